"""The two superseded formats to Markdown workflows (spec 1, section 6).

``recognise`` says which format a file is of, ``program`` and ``classic`` turn one into a ``Draft``, ``repair`` holds the
draft against the checks of the new format and moves to prose what they refuse, ``emit`` writes it.
"""

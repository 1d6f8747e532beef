"""Semantic comparison of two frozen plans (spec 2, section 4).

``compare`` finds the changes, ``formats`` writes them, ``sides`` reads what a person named on the command line.
"""

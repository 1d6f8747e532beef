"""Parsers that Lark's standalone tool writes when the package is built; only this file is kept in version control.

``reference_parser`` comes from ``reference.lark``, ``body_parser`` from ``body.lark``, ``run_parser`` from ``run.lark``;
none of them needs lark at run time. In a checkout: ``python -m akmc_grammar.parser_build``. The generated code carries
Lark's runtime, which stands under the Mozilla Public License 2.0.
"""

"""What the compiler and the interpreter agree on: plan, hashes, bounds, references, schema subset.

Imports the standard library and msgspec only; see ``docs/decisions/0001-five-packages.md``.
"""

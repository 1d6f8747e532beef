"""The interpreter of frozen plans: pure core, journal, dispatchers, commands.

Imports ``akm_schemas``, msgspec and click; httpx and rich on use. Never the compiler or its libraries.
"""

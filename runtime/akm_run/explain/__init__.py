"""Decisions explained: why a unit was dispatched or reused, every gate round, and what a new run would do.

Everything here reads the journal and asks the core again; nothing is decided or written.
"""

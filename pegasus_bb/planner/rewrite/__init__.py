"""Turn an abstract workflow and its catalogs into ones that use a burst buffer.

Passes start no process, read no clock and do no I/O: their output depends on their
input alone.
"""

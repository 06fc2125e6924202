"""The local engine: runs a .dag with no HTCondor. ``run`` is all that others call.

It does what DAGMan does, with these differences. Jobs and scripts inherit the
environment of ``pegasus-bb run`` (as with ``getenv = true``). A job that cannot be
started fails with status 127 in place of being held. A job's stdout and stderr begin
anew with each attempt. The output of a failed script is kept as <node>.pre.err or
<node>.post.err. Every call gives unfinished nodes all their retries. Jobs of universe
local take no slot, at most 20 of them run at a time. SUBDAG, SPLICE, INCLUDE, FINAL,
SERVICE and PROVISIONER are refused by name.
"""

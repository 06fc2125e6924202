"""The reservations of this user: ledger, schedulers' rows and runs, joined.

located (a line of the ledger and its submit directory), schedulers (what they say),
run_state (what a run does), listing (pegasus-bb ls), leftovers (pegasus-bb gc).
"""

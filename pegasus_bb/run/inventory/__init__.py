"""The reservations of this user: ledger, schedulers' rows and runs, joined.

located (a line of the ledger, its submit directory, and what its scheduler says),
run_state (what a run does), listing (pegasus-bb ls), leftovers (pegasus-bb gc).
"""

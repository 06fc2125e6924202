"""What this user holds: the ledger, the schedulers' rows and the runs, joined.

asked (a line of the ledger and its submit directory), look (what the schedulers say),
doing (what a run does), listing (pegasus-bb ls), leftovers (pegasus-bb gc).
"""

"""Executes the job lists of pegasus-transfer; transfer.py is the program."""

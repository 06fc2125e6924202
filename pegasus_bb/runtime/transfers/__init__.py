"""The job lists of pegasus-transfer, done file by file; transfer.py is the program."""

"""The parts of a Kickstart record; record.py is the program."""

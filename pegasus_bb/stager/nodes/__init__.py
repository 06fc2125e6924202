"""Storage of the compute nodes: filled before a job starts, emptied after it."""

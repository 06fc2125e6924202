"""A DAG as data: its file, node roles, submit files and job lists."""

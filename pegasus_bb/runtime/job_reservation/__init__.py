"""A job on its job reservation: its space, its inputs and its results."""

"""A job on a reservation of its own: its space, its inputs and its results."""

"""A job on a reservation of its own: its space, what comes there, and comes back."""

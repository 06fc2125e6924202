"""What runs inside the workflow, with the standard library only."""

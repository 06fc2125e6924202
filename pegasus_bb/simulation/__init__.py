"""What a run, or a machine full of jobs, would do: one event simulator."""

"""What a machine full of jobs, its draining and its flash would do."""

"""What a run would take: the cost model."""

"""The real pegasus-plan as a planner: called, and its DAG sealed."""

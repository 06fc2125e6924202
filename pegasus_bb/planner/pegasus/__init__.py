"""The real pegasus-plan as a planner: found, called, and its DAG sealed."""

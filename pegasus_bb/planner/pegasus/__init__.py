"""The real pegasus-plan as a planner: found, called, and its DAG sealed."""

from pegasus_bb.planner.pegasus.home import Home, chosen_home, find_home

__all__ = ["Home", "chosen_home", "find_home"]

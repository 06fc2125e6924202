"""The real pegasus-plan as a planner: found, called, and its DAG sealed."""

from pegasus_bb.planner.pegasus.arguments import Call, plain_argv, run_argv
from pegasus_bb.planner.pegasus.home import Home, chosen_home, find_home, need_home
from pegasus_bb.planner.pegasus.planning import PegasusPlanned, plan_on_tier

__all__ = [
    "Call",
    "Home",
    "PegasusPlanned",
    "chosen_home",
    "find_home",
    "need_home",
    "plain_argv",
    "plan_on_tier",
    "run_argv",
]

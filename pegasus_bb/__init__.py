"""Burst buffers for Pegasus workflows, with no change to any task.

``plan``, ``explain`` and ``compare`` do what the commands do (docs/reference/api.md).
Each is loaded at its first use: programs on compute nodes import this package, too.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pegasus_bb.api.comparing import RunComparison, compare
    from pegasus_bb.api.explaining import WorkflowExplanation, explain
    from pegasus_bb.api.plan_call import WorkflowPlan, plan

__all__ = [
    "RunComparison",
    "WorkflowExplanation",
    "WorkflowPlan",
    "compare",
    "explain",
    "plan",
]
_MODULES = {
    "RunComparison": "comparing",
    "WorkflowExplanation": "explaining",
    "WorkflowPlan": "plan_call",
    "compare": "comparing",
    "explain": "explaining",
    "plan": "plan_call",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'pegasus_bb' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"pegasus_bb.api.{_MODULES[name]}"), name)

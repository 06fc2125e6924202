"""Decide which file lives on which tier: model -> Placement."""

from pegasus_bb.placement.decide import decide
from pegasus_bb.placement.executables import staged_executables, staged_name
from pegasus_bb.placement.explain import Explanation, explain

__all__ = ["Explanation", "decide", "explain", "staged_executables", "staged_name"]

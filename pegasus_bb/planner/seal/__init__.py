"""The seal: an executable DAG that cannot lose data, or none at all."""

from pegasus_bb.planner.seal.directory import check_directory
from pegasus_bb.planner.seal.removals import removals
from pegasus_bb.planner.seal.sealing import check, seal, sealed
from pegasus_bb.planner.seal.touching import touching, touching_in_doubt

__all__ = [
    "check",
    "check_directory",
    "removals",
    "seal",
    "sealed",
    "touching",
    "touching_in_doubt",
]

"""The seal: an executable DAG that cannot lose data, or none at all."""

from pegasus_bb.planner.seal.beyond import (
    beyond_the_cut,
    check_outside,
    without_the_buffer,
)
from pegasus_bb.planner.seal.directory import check_directory
from pegasus_bb.planner.seal.lives import Lives, read_lives
from pegasus_bb.planner.seal.periods import check_phases
from pegasus_bb.planner.seal.phases import Phases, in_phases
from pegasus_bb.planner.seal.phasesfile import PHASES, phases_json
from pegasus_bb.planner.seal.prior import (
    lines_to_open,
    opened,
    prior_to_the_cut,
    without_edges,
)
from pegasus_bb.planner.seal.removals import removals
from pegasus_bb.planner.seal.sealing import check, seal, sealed
from pegasus_bb.planner.seal.touching import touching, touching_in_doubt

__all__ = [
    "PHASES",
    "Lives",
    "Phases",
    "beyond_the_cut",
    "check",
    "check_directory",
    "check_outside",
    "check_phases",
    "in_phases",
    "lines_to_open",
    "opened",
    "phases_json",
    "prior_to_the_cut",
    "read_lives",
    "removals",
    "seal",
    "sealed",
    "touching",
    "touching_in_doubt",
    "without_edges",
    "without_the_buffer",
]

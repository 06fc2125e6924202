"""The seal: an executable DAG that cannot lose data, or none at all."""

from pegasus_bb.planner.seal.buffer_users import buffer_users, buffer_users_in_doubt
from pegasus_bb.planner.seal.directory import BUILT_IN, check_directory
from pegasus_bb.planner.seal.lives import Lives, read_lives, removals
from pegasus_bb.planner.seal.periods import check_phases
from pegasus_bb.planner.seal.phases import Phases, in_phases
from pegasus_bb.planner.seal.phasesfile import PHASES, phases_json
from pegasus_bb.planner.seal.sealing import check, seal

__all__ = [
    "BUILT_IN",
    "PHASES",
    "Lives",
    "Phases",
    "buffer_users",
    "buffer_users_in_doubt",
    "check",
    "check_directory",
    "check_phases",
    "in_phases",
    "phases_json",
    "read_lives",
    "removals",
    "seal",
]

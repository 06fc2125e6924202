"""The seal: an executable DAG that cannot lose data, or none at all."""

from pegasus_bb.planner.seal.directory import (
    buffer_users,
    buffer_users_in_doubt,
    check_directory,
)
from pegasus_bb.planner.seal.live_bytes import check_phases
from pegasus_bb.planner.seal.lives import Lives, read_lives, removals
from pegasus_bb.planner.seal.phases import PHASES, Phases, in_phases, phases_json
from pegasus_bb.planner.seal.sealing import ExecutableWorkflow, check, complete, seal
from pegasus_bb.planner.seal.view import BUILT_IN

__all__ = [
    "BUILT_IN",
    "PHASES",
    "ExecutableWorkflow",
    "Lives",
    "Phases",
    "buffer_users",
    "buffer_users_in_doubt",
    "check",
    "check_directory",
    "check_phases",
    "complete",
    "in_phases",
    "phases_json",
    "read_lives",
    "removals",
    "seal",
]

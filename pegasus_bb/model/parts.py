"""How the parts of a run are called, for a person: on a report's page, in its text."""

from __future__ import annotations

PARTS = {
    "makespan": "makespan",
    "span": "first task's start to last's end",
    "compute": "compute jobs, added up",
    "stage_in": "staging in, added up",
    "stage_out": "staging out, added up",
    "reserve": "reserving (bb_setup)",
    "gate_wait": "waiting for the reservation (gate)",
    "release": "giving back (bb_delete)",
}

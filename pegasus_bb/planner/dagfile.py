"""Reads and writes DAGMan files; the parts stand in dag, dagreader and dagwriter."""

from __future__ import annotations

from pegasus_bb.planner.dag import JOBSTATE_LOG, KINDS, Dag, Node, Script
from pegasus_bb.planner.dagreader import read_dag
from pegasus_bb.planner.dagwriter import write_dag

__all__ = [
    "JOBSTATE_LOG",
    "KINDS",
    "Dag",
    "Node",
    "Script",
    "read_dag",
    "write_dag",
]

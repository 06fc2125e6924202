"""Sealing a DAG of a test, said in one line."""

from __future__ import annotations

from collections.abc import Mapping, Set

from pegasus_bb.dag.nodes import Dag
from pegasus_bb.planner import seal as product
from pegasus_bb.planner.seal.view import View


def seal(
    dag: Dag,
    users: Set[str],
    site: str,
    gate: str,
    poll: int = 10,
    removes: Mapping[str, Set[str]] | None = None,
    ours: bool = False,
    again: int = 0,
) -> Dag:
    return product.seal(View(dag, users, site, gate, removes or {}, ours), poll, again)


def check(dag: Dag, users: Set[str], site: str, gate: str) -> None:
    product.check(View(dag, users, site, gate))

"""Short calls of ``seal`` and ``check`` for tests."""

from __future__ import annotations

from collections.abc import Mapping, Set
from pathlib import Path

from pegasus_bb.model.dag.nodes import Dag
from pegasus_bb.model.reservation import Request
from pegasus_bb.planner.seal import sealing as product
from pegasus_bb.planner.seal.view import View

RECORDED = Path(__file__).parent.parent / "recorded" / "pegasus-5.1.2"


def request(prefix: str = "/bb/wfres", site: str = "cori") -> Request:
    return Request("wfres", "datawarp", 1, prefix, "uuid", "bb", site)


def seal(
    dag: Dag,
    users: Set[str],
    site: str,
    gate: str,
    poll: int = 10,
    removes: Mapping[str, Set[str]] | None = None,
    ours: bool = False,
    retries: int = 0,
) -> Dag:
    view = View(dag, users, site, gate, removes or {}, ours)
    return product.seal(view, poll, retries)


def check(dag: Dag, users: Set[str], site: str, gate: str) -> None:
    product.check(View(dag, users, site, gate))

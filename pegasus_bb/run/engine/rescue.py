"""Rescue files as DAGMan writes them ("partial": read together with the DAG)."""

from __future__ import annotations

import re
import time
from collections.abc import Collection
from pathlib import Path

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.core.files import read_text, write_text
from pegasus_bb.model.dag.nodes import Dag

_FAILED, _ENDLIST = "# Nodes that failed: ", "<ENDLIST>"


def write_rescue(
    path: Path, dag: Dag, dag_name: str, done: Collection[str], failed: Collection[str]
) -> None:
    """Put the rescue file under ``path``: nodes in ``done`` will not run again."""
    now = time.gmtime()
    names = "".join(f"{name}," for name in dag.nodes if name in failed)
    lines = [
        "# Rescue DAG file, created after running",
        f"#   the {dag_name} DAG file",
        f"# Created {now.tm_mon}/{now.tm_mday}/{now.tm_year} "
        f"{time.strftime('%H:%M:%S', now)} UTC",
        "# Rescue DAG version: 2.0.1 (partial)",
        "#",
        f"# Total number of Nodes: {len(dag.nodes)}",
        f"# Nodes premarked DONE: {len(done)}",
        f"{_FAILED}{len(failed)}",
        f"#   {names}{_ENDLIST}",
        "",
    ]
    for node in dag.nodes.values():
        if node.name in done:
            lines.append(f"DONE {node.name}")
        if node.retry:
            unless = node.unless_exit
            stop = "" if unless is None else f" UNLESS-EXIT {unless}"
            lines.append(f"RETRY {node.name} {node.retry}{stop}")
    write_text(str(path), "\n".join(lines) + "\n")


def read_rescue(path: Path | None, dag: Dag) -> set[str]:
    """The nodes that a rescue file calls done; none without a file.

    Raises CatalogError where it names a node that ``dag`` does not have.
    """
    done: set[str] = set()
    if path is None:
        return done
    text = read_text(path)
    for number, line in enumerate(text.splitlines(), 1):
        parts = line.split()
        if len(parts) != 2 or parts[0].upper() != "DONE":
            continue
        if parts[1] not in dag.nodes:
            raise CatalogError(
                "a node that the DAG does not define",
                str(path),
                number,
                found=parts[1],
                would_do="if the workflow was planned again, start over: "
                "pegasus-bb run --restart",
            )
        done.add(parts[1])
    return done


def read_failed(path: Path | None, dag: Dag) -> list[str]:
    """The nodes of ``dag`` that a rescue file calls failed, in comments at its top."""
    if path is None:
        return []
    text = read_text(path)
    _, _, after = text.partition(_FAILED)
    names, _, _ = after.partition(_ENDLIST)
    listed = re.split(r"[\s#,]+", names)[1:]  # how many they are comes first
    return [name for name in listed if name in dag.nodes]

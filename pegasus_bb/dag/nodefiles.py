"""The text of the files that a DAG names: submit files and job lists."""

from __future__ import annotations

from pathlib import Path

from pegasus_bb.dag.nodes import Node
from pegasus_bb.errors import CatalogError


def submit_text(folder: Path, node: Node) -> str:
    """The submit file of ``node``. Raises CatalogError where it cannot be read."""
    text = _text(node.file(folder), f"the submit file of node {node.name}")
    if text is None:
        raise CatalogError(
            f"the submit file of node {node.name} cannot be read: it is not there",
            file=str(node.file(folder)),
            would_do="plan again",
        )
    return text


def list_text(folder: Path, node: Node) -> str:
    """The job list of ``node``, or the list of a cluster's tasks; empty where there is
    none. Raises CatalogError."""
    file = node.file(folder).with_suffix(".in")
    return _text(file, f"the job list of node {node.name}") or ""


def _text(file: Path, what: str) -> str | None:
    """None where there is no such file. What is no text stays as it is."""
    try:
        return file.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CatalogError(
            f"{what} cannot be read: {error.strerror}",
            file=str(file),
            would_do="plan again",
        ) from error

"""Names of nodes, folders and files, as Pegasus gives them."""

from __future__ import annotations

import re
from hashlib import blake2b
from importlib.metadata import version

from pegasus_bb.model.workflow import Job

VERSION = version("pegasus_bb")
JOBS_PER_FOLDER = 1000
# DAGMan keeps . + and = for itself.
_NOT_IN_NODE_NAMES = re.compile(r"[^A-Za-z0-9_-]")


def node_name(job: Job) -> str:
    """The DAG node of ``job``: <name>_<id>."""
    return _NOT_IN_NODE_NAMES.sub("_", f"{job.name}_{job.id}")


def label_in_names(label: str) -> str:
    """The workflow's name as it can stand inside the names of nodes."""
    return _NOT_IN_NODE_NAMES.sub("_", label)


def folder(number: int) -> str:
    """Where the files of the ``number``-th node go: 00/00, then 00/01, ..."""
    part = number // JOBS_PER_FOLDER
    return f"{part // 256:02X}/{part % 256:02X}"


def properties_file(uuid: str) -> str:
    """pegasus.<n>.properties; <n> is a run's own, and the same every time."""
    digest = blake2b(uuid.encode(), digest_size=8).digest()
    return f"pegasus.{int.from_bytes(digest, 'big') >> 1}.properties"


def compact(timestamp: str) -> str:
    """2026-11-20T18:46:37+00:00 as 20261120T184637+0000."""
    return timestamp.replace("-", "", 2).replace(":", "")

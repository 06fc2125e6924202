"""A new file for ``--bb-speeds``: the measured figures of one site."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import yaml

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import write_text
from pegasus_bb.model.placement import PFS
from pegasus_bb.model.speeds import KEY, SLOTS


def check_speeds(path: Path, names: list[str]) -> None:
    """Raises UsageError if ``path`` cannot be made, or if the PFS is not measured."""
    folder = path.absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"--speeds {path}: {folder} is no folder of yours to write to")
    if os.path.lexists(path):
        raise UsageError(f"--speeds {path}: it exists; name a new file")
    if PFS not in names:
        raise UsageError(
            f"--speeds {path}: tiers are compared with the PFS; measure it too: "
            f"--tier {PFS}=DIR"
        )


def write_speeds(
    path: Path, site: str, places: Mapping[str, Mapping[str, str]], comment: str
) -> None:
    """Write the figures of ``places`` below ``comment``, with the slots that the local
    engine has on this machine. Raises UsageError."""
    slots = len(os.sched_getaffinity(0))
    comment += (
        "\n# slots: the processors of that machine; of a pool, your jobs at a time"
    )
    figures = {name: dict(speeds) for name, speeds in places.items()}
    text = yaml.safe_dump(
        {KEY: {site: {SLOTS: slots, **figures}}},
        sort_keys=False,
        default_flow_style=None,  # a place in a line
        allow_unicode=True,
        width=1000,
    )
    try:
        write_text(str(path), f"# {comment}\n{text}")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error}") from error

"""What a plain plan records for a later comparison: the launcher that counts I/O.

Only where a run on the buffer would ask no more of the site: it declares a tier, its
jobs share their files (sharedfs), and so they see the folder of the submit
directories, where the launcher lies.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from pegasus_bb.errors import UsageError
from pegasus_bb.model.properties import Properties, Settings
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus.call import plain
from pegasus_bb.planner.reading import properties_of
from pegasus_bb.planner.run_plan import check_python
from pegasus_bb.runtime.install import install_runtime

LAUNCHER = "pegasus.gridstart.launcher"
FOLDER = ".pegasus-bb"  # below --dir: one launcher for all its runs


def recorded(options: PlanOptions, settings: Settings, declared: bool) -> list[str]:
    """The options of pegasus-plan that make Kickstart's jobs count; none where they
    could stand in a job's way. A launcher that a site names itself goes before."""
    properties = properties_of(options)
    if settings.counters == "off" or not declared or not _fits(properties):
        return []
    try:
        base = options.absolute(options.base_dir)
        plain(str(base), "the folder of submit directories")
        bb = counting(base, check_python(properties, settings.python))
    except (UsageError, OSError):
        return []  # a plain plan never fails for the want of counters
    return [f"-D{LAUNCHER}={bb / 'bin' / 'launch'}"]


def _fits(properties: Properties) -> bool:
    shared = properties.get("pegasus.data.configuration", "").lower() == "sharedfs"
    kickstart = properties.get("pegasus.gridstart", "kickstart").lower() == "kickstart"
    return shared and kickstart and LAUNCHER not in properties


def counting(base: Path, python: str) -> Path:
    """A bb folder without a run below ``base``, made once. Raises OSError."""
    home = base / FOLDER
    home.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=".part-", dir=home))
    try:
        install_runtime(str(part), python)
        folder = home / _digest(part)
        if not folder.exists():
            part.chmod(0o755)
            os.rename(part, folder)  # noqa: PTH104 - onto nothing, or it fails
    except OSError:
        if not folder.exists():  # else another plan was faster
            raise
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return folder


def _digest(folder: Path) -> str:
    """Of the programs and the Python that starts them, not of when they were copied."""
    digest = hashlib.sha256()
    for file in sorted(p for p in folder.rglob("*") if p.suffix in ("", ".py")):
        if file.is_file():
            digest.update(f"{file.relative_to(folder)}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:16]

"""A launcher that counts I/O, which a plain plan uses for a later comparison.

It is used only if a run on the buffer would need nothing more from the site: a tier is
declared, and the jobs share their files (sharedfs), so that they see the folder of the
submit directories, which has the launcher.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.properties import Properties, Settings
from pegasus_bb.planner.node_python import check_python
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus.call import plain
from pegasus_bb.planner.reading import properties_of
from pegasus_bb.runtime.install import install_runtime

LAUNCHER = "pegasus.gridstart.launcher"
FOLDER = ".pegasus-bb"  # below --dir: one launcher for all its runs


def counting_options(
    options: PlanOptions, settings: Settings, *, declared: bool
) -> list[str]:
    """The options of pegasus-plan that make Kickstart's jobs count; none if they could
    disturb a job. A site's own launcher takes precedence."""
    properties = properties_of(options)
    if settings.counters == "off" or not declared or not _can_count(properties):
        return []
    try:
        base = options.absolute(options.base_dir)
        plain(str(base), "the folder of submit directories")
        bb = counting_folder(base, check_python(properties, settings.python))
    except (UsageError, OSError):
        return []  # a plain plan never fails because of counters
    return [f"-D{LAUNCHER}={bb / 'bin' / 'launch'}"]


def _can_count(properties: Properties) -> bool:
    shared = properties.get("pegasus.data.configuration", "").lower() == "sharedfs"
    kickstart = properties.get("pegasus.gridstart", "kickstart").lower() == "kickstart"
    return shared and kickstart and LAUNCHER not in properties


def counting_folder(base: Path, python: str) -> Path:
    """A bb folder below ``base`` that belongs to no run, made once. Raises OSError."""
    home = base / FOLDER
    home.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=".part-", dir=home))
    try:
        install_runtime(str(part), python)
        folder = home / _digest(part)
        if not folder.exists():
            part.chmod(0o755)
            os.rename(part, folder)  # noqa: PTH104 - fails if the target exists
    except OSError:
        if not folder.exists():  # else another plan was faster
            raise
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return folder


def _digest(folder: Path) -> str:
    """A digest of the programs and their Python, with the digest of the code."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            digest.update(f"{file.relative_to(folder)}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:16]

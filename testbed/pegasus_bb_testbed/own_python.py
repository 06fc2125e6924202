"""An environment inside for a Python of the host's system, which has another one."""

from __future__ import annotations

import os
import site
import sys
from pathlib import Path

_FOLDER = "opt/pegasus-bb-python"
_LIBRARY = "lib/python{0.major}.{0.minor}/site-packages"


def python_inside(root: Path, system: Path) -> str:
    """The program inside that is this very Python, with this one's packages.

    `python` of a venv of the system's Python leads to /usr/bin/python3, and inside
    that is the Python of the testbed's own Debian: it finds no package here. So an
    environment inside names the version, and takes the packages of this one.
    """
    if Path(sys.base_prefix) != system:
        return sys.executable
    folder = root / _FOLDER
    library = folder / _LIBRARY.format(sys.version_info)
    for made in (folder / "bin", library):
        made.mkdir(parents=True, exist_ok=True)
    program = Path(sys.executable).resolve()
    (folder / "pyvenv.cfg").write_text(f"home = {program.parent}\n")
    for name in ("python", "python3", program.name):
        link = folder / "bin" / name
        link.unlink(missing_ok=True)
        link.symlink_to(program)
    (library / "host.pth").write_text(f"import site; {_adding()}\n")
    return f"/{_FOLDER}/bin/python"


def _adding() -> str:
    """Statements that add the packages of this Python, with their .pth files."""
    folders = [path for path in site.getsitepackages() if os.path.isdir(path)]  # noqa: PTH112
    return "; ".join(f"site.addsitedir({path!r})" for path in folders)

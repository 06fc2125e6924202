"""Put an emulated DataWarp into a folder: its program, this code, its settings."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pegasus_bb
from pegasus_bb.core.files import write_json, write_text
from pegasus_bb_testbed.datawarp.place import Place, Pool

# What the programs import, of this package.
_CODE = (
    "__init__.py",
    *(
        f"core/{name}.py"
        for name in (
            "__init__",
            "errors",
            "files",
            "light_typing",
            "refusals",
            "units",
        )
    ),
)
_PROGRAM = """\
#!{python} -ISB
import sys
from pathlib import Path
ROOT = Path({root!r})
sys.path.insert(0, str(ROOT / "lib"))
from pegasus_bb_testbed.datawarp.place import Place
from pegasus_bb_testbed.datawarp.program import dw_wlm_cli
sys.exit(dw_wlm_cli(Place(ROOT), sys.argv[1:]))
"""


def install(
    folder: Path,
    pools: Sequence[Pool],
    python: str = "/usr/bin/python3",
    seen_as: Path | None = None,
    mounts: Path | None = None,
    *,
    bind: bool = False,
) -> Place:
    """Everything that Slurm needs below ``folder``; what is granted there is kept.

    ``seen_as`` is the folder's path where the programs run, ``mounts`` the folder below
    which jobs find their buffers, as they see it; with ``bind`` they are mounted there,
    which takes root.
    """
    root = seen_as or folder
    place = Place(folder)
    for made in (place.buffers, place.trash, folder / "mounts" / "batch"):
        made.mkdir(parents=True, exist_ok=True)
    place.trash.chmod(0o700)
    settings = {
        "pools": [list(pool) for pool in pools],
        "mounts": str(mounts or root / "mounts" / "batch"),
        "bind": bind,
    }
    write_json(str(place.config), settings)
    _copy_code(folder / "lib")
    (folder / "bin").mkdir(exist_ok=True)
    text = _PROGRAM.format(python=python, root=str(root))
    write_text(str(folder / "bin" / "dw_wlm_cli"), text, mode=0o755)
    return place


def _copy_code(lib: Path) -> None:
    package = Path(pegasus_bb.__file__).parent
    shutil.rmtree(lib, ignore_errors=True)
    for name in _CODE:
        copy = lib / "pegasus_bb" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(package / name, copy)
    ours = Path(__file__).parent
    shutil.copytree(
        ours,
        lib / "pegasus_bb_testbed" / "datawarp",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    shutil.copyfile(
        ours.parent / "__init__.py", lib / "pegasus_bb_testbed" / "__init__.py"
    )

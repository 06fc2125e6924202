"""Makes Pegasus's database of a user's runs before the user's first plan.

pegasus-plan makes ~/.pegasus/workflow.db table by table, without a lock. If two first
plans run side by side, one of them fails: "table dbversion already exists".
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pegasus_bb.core.process import ask
from pegasus_bb.planner.pegasus_home import PegasusHome

_ELSEWHERE = ("pegasus.catalog.master.url", "pegasus.dashboard.output")
_NAME = "workflow.db"


def make_user_database(home: PegasusHome, properties: Mapping[str, str]) -> None:
    """Make the database if the user has none and ``properties`` name no other.

    The database gets its name when it is complete, so another plan never sees half of
    it. If it cannot be made, pegasus-plan tries again and reports why.
    """
    user = os.environ.get("HOME", "")  # where Pegasus's Python looks
    folder = Path(user) / ".pegasus"
    if not user or any(key in properties for key in _ELSEWHERE):
        return
    if not os.path.lexists(folder / _NAME):
        try:
            folder.mkdir(exist_ok=True)
            _make(home, folder)
        except OSError:
            return


def _make(home: PegasusHome, folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=".part-", dir=folder) as part:
        made = Path(part, _NAME)
        create = [home.tool("pegasus-db-admin"), "create", f"sqlite:///{made}"]
        if ask(create).status == 0:
            made.chmod(0o600)  # as Pegasus does
            os.link(made, folder / _NAME)  # fails if another plan was faster

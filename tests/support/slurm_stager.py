"""A site's staging service with the hooks of Slurm, in a Lua as Slurm has them."""

from __future__ import annotations

import importlib
import json
import os
import pwd
import shutil
from pathlib import Path
from typing import Any

from pegasus_bb.stager.slurm.install_hooks import hooks_text
from tests.support.stager import ME, SiteDaemon
from tests.support.waiting import until

SUCCESS = 0
ERROR = -1


class Hooks:
    """burst_buffer.lua in a Lua of its own, as every process of Slurm has one."""

    def __init__(self, spool: Path, version: str = "lua51") -> None:
        lua = importlib.import_module(f"lupa.{version}")
        self._lua = lua.LuaRuntime(unpack_returned_tuples=True)
        log = self._lua.eval("function() end")
        slurm = {"SUCCESS": SUCCESS, "ERROR": ERROR, "log_error": log, "log_info": log}
        self._lua.globals().slurm = self._lua.table_from(slurm)
        self._lua.execute(hooks_text(str(spool)))

    def call(self, name: str, *words: Any) -> tuple[int, str]:
        shaped = [self._lua.table_from(w) if isinstance(w, dict) else w for w in words]
        answer = self._lua.globals()[f"slurm_bb_{name}"](*shaped)
        code, text = answer if isinstance(answer, tuple) else (answer, "")
        return int(code), str(text)

    def lua(self, text: str) -> Any:
        return self._lua.execute(text)


class SlurmSite(SiteDaemon):
    """Dataspace lustre, pool flash of 10 MiB in granules of 1 MiB."""

    def __init__(self, folder: Path) -> None:
        self.lustre, self.bb = folder / "lustre", folder / "bb"
        super().__init__(folder, lustre=self.lustre)
        self.spool = folder / "spool"
        self.lustre.mkdir()
        self.bb.mkdir()
        self.lua = "lua51"
        pool = {"path": str(self.bb), "capacity": "10MiB", "granularity": "1MiB"}
        user = pwd.getpwuid(ME).pw_name
        slurm = {"user": user, "spool": str(self.spool), "pools": {"flash": pool}}
        self.config["slurm"] = slurm

    def serve(self) -> None:
        (self.spool / "alive").unlink(missing_ok=True)
        super().serve()
        until((self.spool / "alive").exists)

    @property
    def hooks(self) -> Hooks:
        """A Lua of its own for each call, as Slurm has it."""
        return Hooks(self.spool, self.lua)

    def file(self, name: str, text: str = "some text", uid: int = ME) -> Path:
        path = self.lustre / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.chown(path, uid, -1)
        return path

    def block(self) -> None:
        """STAGE_OUT cannot save: a folder has the place."""
        (self.lustre / "out" / "in the way").mkdir(parents=True)

    def let_pass(self) -> None:
        shutil.rmtree(self.lustre / "out")

    @property
    def saved(self) -> str:
        """What STAGE_OUT has made."""
        return (self.lustre / "out").read_text()

    def ask(self, *words: str, uid: int = ME) -> dict[str, Any]:
        """What ``scontrol show bbstat WORDS`` prints."""
        code, text = self.hooks.call("get_status", uid, uid, *words)
        assert code == SUCCESS and "\n" not in text
        answer: dict[str, Any] = json.loads(text)
        assert answer.pop("v") == 1
        return answer

    def rows_of(self, what: str, uid: int = ME) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.ask("list", uid=uid)["ok"][what]
        return rows

    @property
    def kept(self) -> list[dict[str, Any]]:
        return self.rows_of("kept")

    @property
    def free(self) -> int:
        """MiB of the pool."""
        return int(self.rows_of("pools")[0]["free"]) >> 20

    def until_free(self) -> None:
        """Until nothing has a part of the pool."""
        until(lambda: self.free == 10)

    def records(self, kind: str = "SlurmJob") -> list[dict[str, Any]]:
        """What the service has stored of its jobs."""
        rows = self.rows("SELECT record FROM records WHERE kind = ?", kind)
        return [json.loads(row) for (row,) in rows]

    def age(self, seconds: float, *numbers: int) -> None:
        """Since then jobs have not changed, as the next service reads."""
        self.kill()
        for number in numbers:
            known = self.record(number)
            self.edit(number, changed_at=known["changed_at"] - seconds)
        self.serve()

    def record(self, number: int) -> dict[str, Any]:
        """Of a job; empty if there is none."""
        return next((r for r in self.records() if r["number"] == number), {})

    def edit(self, number: int, **changes: Any) -> None:
        """Change the record of a job, while no service runs."""
        known = self.record(number)
        name = f"{number}.{known['noted_at']}"
        text = json.dumps({**known, **changes})
        self.change("UPDATE records SET record = ? WHERE name = ?", text, name)

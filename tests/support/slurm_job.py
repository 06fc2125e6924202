"""A job of such a Slurm: its directives, and the calls of Slurm for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from tests.support.slurm_stager import ERROR, SUCCESS, SlurmSite
from tests.support.stager import ME
from tests.support.waiting import until

OWN = "jobbb capacity=2MiB pool=flash"
STAGE_IN = "stage_in lustre://in job://in"
STAGE_OUT = "stage_out job://out lustre://out"
COPIES = (STAGE_IN, STAGE_OUT)


class Job:
    """A job, and Slurm's calls for it in their order."""

    number = 1000
    made: ClassVar[list[Job]] = []

    def __init__(self, site: SlurmSite, *directives: str, uid: int = ME) -> None:
        Job.number += 1
        Job.made.append(self)
        self.site, self.uid, self.id = site, uid, Job.number
        self.script = f"/var/spool/slurmctld/hash/job.{self.id}/script"
        self.lines = "\n".join(f"#BB_LUA {line}" for line in directives)
        self.exit_code = 0

    def call(self, hook: str, **info: Any) -> tuple[int, str]:
        info = {"burst_buffer": self.lines, **info}
        words: list[Any] = [self.id, self.script, self.uid, self.uid, info]
        if hook == "setup":
            words = [self.id, self.uid, self.uid, None, 0, self.script, info]
        return self.site.hooks.call(hook, *words)

    def known(self, key: str = "state") -> str:
        """What the hooks know of it."""
        path = self.site.spool / "jobs" / str(self.id)
        text = path.read_text() if path.exists() else ""
        return dict(line.split("=", 1) for line in text.splitlines()).get(key, "")

    def until_in(self, state: str) -> None:
        until(lambda: self.known() == state)

    def begin(self, **info: Any) -> None:
        assert self.call("setup", **info) == (SUCCESS, "")
        assert self.call("data_in", **info) == (SUCCESS, "")

    def stage_in(self) -> None:
        """From setup until Slurm would start the job."""
        self.begin()
        self.until_staged("in")

    def fail(self) -> str:
        """The reason why it cannot be staged in."""
        self.begin()
        return self.until_failed("in")

    def environ(self) -> dict[str, str]:
        """The variables that the job gets."""
        path = self.site.folder / "path"
        path.write_text("")
        words: tuple[Any, ...] = (
            self.id,
            self.script,
            str(path),
            self.uid,
            self.uid,
            {},
        )
        assert self.site.hooks.call("paths", *words) == (SUCCESS, "")
        pairs = [line.split("=", 1) for line in path.read_text().splitlines()]
        return dict(pairs)

    def run(self) -> dict[str, str]:
        found = self.environ()
        assert self.call("pre_run") == (SUCCESS, "")
        return found

    def runs_in(self) -> Path:
        """Its own buffer, where Slurm starts it."""
        return Path(self.run()["BB_JOB"])

    def compute(self, result: str = "") -> Path:
        """Its own buffer, in which it leaves ``result``; the service knows that it
        runs."""
        self.stage_in()
        own = self.runs_in()
        if result:
            (own / "out").write_text(result)
        self.until_in("running")
        requests = self.site.spool / "requests"
        until(lambda: not list(requests.glob("*.pre_run")))  # it would come once more
        return own

    def end(self, exit_code: int = 0) -> None:
        self.exit_code = exit_code
        for hook in ("post_run", "data_out"):
            assert self.call(hook, exit_code=exit_code) == (SUCCESS, "")

    def stage_out(self, exit_code: int = 0) -> None:
        self.end(exit_code)
        self.until_staged("out")

    def fail_to_save(self, exit_code: int = 0) -> str:
        """The reason why its results cannot be saved."""
        self.end(exit_code)
        return self.until_failed("out")

    def tear_down(self, hurry: bool = False) -> None:
        words = (self.id, self.script, str(hurry).lower(), self.uid, self.uid)
        assert self.site.hooks.call("job_teardown", *words) == (SUCCESS, "")
        requests = self.site.spool / "requests"
        until(lambda: not list(requests.glob("*.teardown")))

    def is_staged(self, way: str) -> tuple[int, str]:
        """What Slurm asks again and again; ``way`` is in or out."""
        more = {"exit_code": self.exit_code} if way == "out" else {}
        return self.call(f"test_data_{way}", **more)

    def is_busy(self, way: str) -> bool:
        return self.is_staged(way) == (SUCCESS, "BUSY")

    def until_staged(self, way: str) -> None:
        until(lambda: not self.is_busy(way))
        assert self.is_staged(way) == (SUCCESS, "")

    def until_failed(self, way: str) -> str:
        until(lambda: not self.is_busy(way))
        code, words = self.is_staged(way)
        assert code == ERROR
        return words

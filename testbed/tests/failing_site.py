"""A Slurm whose hooks fail as jobs say, and what it says of such a job."""

from __future__ import annotations

import re
import time
from pathlib import Path

from pegasus_bb_testbed import site
from pegasus_bb_testbed.home import Home

from testbed.tests.lua_site import LuaSite
from tests.support.waiting import until

HOOKS = Path(__file__).parent / "failing.lua"
_CONF = "PollInterval=1\nStageInTimeout=6\nStageOutTimeout=6\nOtherTimeout=4\n"
_SHOWN = ("JobState", "Reason", "Priority", "SystemComment", "BurstBufferState")
_TIME = re.compile(r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d ")


class FailingSite(LuaSite):
    """Jobs have names. What is recorded has nothing that differs from run to run."""

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self.etc = home.root / "etc/slurm"
        self.log = home.root / "var/log/slurm/slurmctld.log"
        self._calls = home.root / "var/log/slurm/calls"
        self._calls.unlink(missing_ok=True)
        self._began = self.log.stat().st_size
        self.numbers: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.have_hooks(HOOKS.read_text())

    def have_hooks(self, text: str) -> None:
        (self.etc / "burst_buffer.lua").write_text(text)

    def restart(self, flags: str = "") -> None:
        """Start slurmctld anew, with these flags."""
        (self.etc / "burst_buffer.conf").write_text(_CONF + flags)
        site.stop_controller(self.home)
        site.start_controller(self.home)

    def begin(self, name: str, *lines: str, options: str = "") -> None:
        script = self.script(f"{name}.sh", *(f"#BB_LUA {x}" for x in lines), "true")
        self.numbers[name] = self.sbatch("wfuser", *options.split(), script)

    # -- what has happened

    def calls(self, name: str) -> list[tuple[int, str]]:
        """When hooks were called for a job, seconds of the epoch, and which."""
        said = self._calls.read_text() if self._calls.exists() else ""
        lines = (line.split(" ", 2) for line in said.splitlines())
        mine = self.numbers[name]
        return [(int(when), hook) for when, number, hook in lines if number == mine]

    def count(self, name: str, hook: str) -> int:
        """How often a hook was called for a job."""
        return sum(found.startswith(hook) for _, found in self.calls(name))

    def is_held(self, name: str) -> bool:
        """Whether a hook has failed; Slurm also says when one is under way."""
        said = self.reason(self.numbers[name]).splitlines()
        words = "burst_buffer/lua"
        return any(x.startswith(words) and "in progress" not in x for x in said)

    def has_row(self, name: str) -> bool:
        """Whether `scontrol show burst` shows the job."""
        burst = self.run("root", "scontrol", "show", "burst").out
        return f"JobID={self.numbers[name]} " in burst

    def show(self, name: str) -> dict[str, str]:
        """`scontrol show job`."""
        said = self.run("root", "scontrol", "show", "job", self.numbers[name]).out
        return dict(re.findall(r"(\w+)=(.*?)(?=\s+\w+=|\n|$)", said))

    def is_put_off(self, name: str, seconds: int, since: float) -> bool:
        """Whether Slurm put the job off for so long, some time after ``since``."""
        said = self.show(name)["StartTime"]
        start = time.mktime(time.strptime(said, "%Y-%m-%dT%H:%M:%S"))
        return since - 1 <= start - seconds <= time.time() + 2

    def torn_down(self, name: str, times: int = 1) -> None:
        """Back when the job's teardown was called so often, and Slurm is done."""
        until(lambda: self.count(name, "job_teardown") >= times)
        until(lambda: not self.has_row(name))
        until(lambda: self.show(name)["BurstBufferState"] == "complete")

    def is_torn_down(self, name: str) -> bool:
        """Back when Slurm is done with a job that scancel has ended. False: Slurm has
        killed the teardown that its scancel had begun, as it does now and then."""
        words = f"teardown for JobId={self.numbers[name]} terminated by slurmctld"
        until(lambda: words in self.log_text() or not self.has_row(name))
        return not self.has_row(name)

    def waits_for(self, name: str, reason: str) -> None:
        """Back when Slurm says so."""
        until(lambda: self.reason(self.numbers[name]) == reason)

    def give_time(self) -> None:
        """A job without a fault has been through all hooks: what Slurm was to do for
        others meanwhile, it has done."""
        self.begin("passes", "")
        until(lambda: self.state(self.numbers["passes"]) == "COMPLETED")

    # -- what is recorded

    def record(self, row: str, name: str, *more: str) -> None:
        """Note what is said of a job now; ``row`` may have more than one such part."""
        number = self.numbers[name]
        shown = self.show(name)
        if shown.get("Priority", "0") != "0":
            shown["Priority"] = "(not 0)"
        squeue = self.run("root", "squeue", "-h", "-tall", f"-j{number}", "-o%T %r").out
        lines = [
            *more,
            "$ scontrol show job N",
            *(f"   {key}={shown[key]}" for key in _SHOWN if key in shown),
            "$ squeue -j N -o '%T %r'",
            *(f"   {line}" for line in sorted(squeue.splitlines()) if line),
            "$ scontrol show burst",
            f"   {'a row' if self.has_row(name) else 'no row'} of job N",
            f"hooks called: {', '.join(self._hooks(name)) or 'none'}",
            "slurmctld.log:",
            *(f"   {line}" for line in self._logged(number)),
        ]
        self.note(row, *lines)

    def note(self, row: str, *lines: str) -> None:
        text = "".join(_TIME.sub("", line).rstrip() + "\n" for line in lines)
        self.texts[row] = "\n".join([*filter(None, [self.texts.get(row)]), text])

    def _hooks(self, name: str) -> list[str]:
        """Those that were called; polls in a row are one."""
        found: list[str] = []
        for _, hook in self.calls(name):
            if hook.startswith("test_") and "teardown" in "".join(found[-1:]):
                continue  # Slurm asks once more, or not
            if not (hook.startswith("test_") and hook in found[-1:]):
                found.append(hook)
        for size in range(1, len(found)):  # a job may be staged more than once
            if found[:size] * (len(found) // size) == found:
                return found[:size]
        return found

    def log_text(self) -> str:
        """slurmctld's log since this site was made, without times."""
        with self.log.open("rb") as file:
            file.seek(self._began)
            lines = file.read().decode(errors="replace").splitlines()
        return "\n".join(line.partition("] ")[2] for line in lines)

    def _logged(self, number: str) -> list[str]:
        """Words about hooks of a job, each once."""
        mine = re.compile(rf"JobId={number}(?!\d)")
        lines = [line for line in self.log_text().splitlines() if mine.search(line)]
        told = [line for line in lines if "slurm_bb_" in line or "/lua" in line]
        return list(dict.fromkeys(mine.sub("JobId=N", line) for line in told))

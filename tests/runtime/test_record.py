"""Our recorder writes what Kickstart writes, and measures what it can."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

RECORDED = Path(__file__).parent.parent / "recorded" / "kickstart"
MIB = 1 << 20
Site = Any  # tests/runtime/conftest.py


def recorded(site: Site, *argv: str, **more: Any) -> dict[str, Any]:
    done = site.start("record", *argv, **more)
    (record,) = yaml.safe_load(done.stdout)
    found: dict[str, Any] = record
    return found


def main_row(record: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = record["mainjob"]["procs"][record["mainjob"]["pid"]]
    return row


def leaves(value: Any, at: str = "") -> Iterator[tuple[str, type | None]]:
    """Each key with the type of its value; None: null, which Kickstart never writes."""
    for key, each in value.items():
        path = f"{at}/{'PID' if isinstance(key, int) else key}"
        if isinstance(each, dict):
            yield from leaves(each, path)
        else:
            yield path, None if each is None else type(each)


class TestShape:
    def test_a_record_has_what_the_report_reads(self, site: Site) -> None:
        text = (RECORDED / "kickstart-5.1.2-t-procs.yml").read_text()
        theirs = dict(leaves(yaml.safe_load(text)[0]))
        words = ("-n", "writer", "-N", "ID1", "-R", "cori")
        ours = dict(leaves(recorded(site, *words, "true", "-c")))

        # Kickstart leaves out the name of a host that no name server knows.
        assert ours.keys() - theirs.keys() == {"/recorder", "/hostname"}
        other = ("rbytes", "wbytes", "iowait")
        assert {key for key in ours if "/procs/" in key} == {
            f"/mainjob/procs/PID/{name}"
            for name in ("rchar", "wchar", "syscr", "syscw", *other)
        }
        known = [key for key, kind in ours.items() if kind and key in theirs]
        assert [k for k in known if ours[k] is not theirs[k]] == []

    def test_the_options_of_the_job(self, site: Site) -> None:
        stamp = "2026-11-20T18:46:37+00:00"
        words = ("-n", "ns::cat:1.0", "-N", "null", "-R", "cori", "-L", "demo")
        record = recorded(
            site, *words, "-T", stamp, "-H", "echo", "a", CONDOR_JOBID="20.0"
        )
        assert record["transformation"] == "ns::cat:1.0"
        assert (record["derivation"], record["resource"]) == ("null", "cori")
        assert record["recorder"] == "pegasus_bb"
        assert record["mainjob"]["argument_vector"] == ["a"]
        assert record["mainjob"]["executable"]["file_name"] == os.path.realpath(
            "/bin/echo"
        )


class TestCounters:
    def test_bytes_of_the_task_and_of_what_it_started_are_exact(
        self, site: Site, tmp_path: Path
    ) -> None:
        """A child that writes 3 MiB, and a grandchild that reads them."""
        task = tmp_path / "task.py"
        task.write_text(
            "import os, sys\n"
            "def io():\n"
            "    text = os.read(os.open('/proc/self/io', 0), 999)\n"
            "    pairs = dict(line.split(b': ') for line in text.splitlines())\n"
            "    return len(text), int(pairs[b'rchar']), int(pairs[b'wchar'])\n"
            "out = os.open('big', os.O_WRONLY | os.O_CREAT)\n"
            f"for _ in range(3): os.write(out, b'x' * {MIB})\n"
            "if os.fork() == 0:\n"
            "    handle = os.open('big', os.O_RDONLY)\n"
            f"    while os.read(handle, {MIB}): pass\n"
            "    os._exit(0)\n"
            "os.wait()\n"
            "read, rchar, wchar = io()\n"
            "words = b'%d %d' % (rchar + read, wchar + 40)\n"
            "os.write(1, words.ljust(40))\n"
            "os._exit(0)\n"
        )
        record = recorded(site, "-w", str(tmp_path), sys.executable, "-IS", "task.py")
        row = main_row(record)
        said = [int(word) for word in record["files"]["stdout"]["data"].split()]
        assert [row["rchar"], row["wchar"]] == said
        assert row["rchar"] > 3 * MIB and row["wchar"] >= 3 * MIB

    def test_what_launch_itself_reads_is_not_the_task_s(self, site: Site) -> None:
        alone = main_row(recorded(site, "true"))
        done = site.start("launch", site.program("record"), "true")
        inside = main_row(yaml.safe_load(done.stdout)[0])
        assert inside["rchar"] == alone["rchar"]
        assert inside["wchar"] == 0


class TestStatus:
    @pytest.mark.parametrize(
        ("task", "code", "status"),
        [
            ("exit 3", 3, {"raw": 768, "regular_exitcode": 3}),
            (
                "ulimit -c 0; kill -SEGV $$",
                139,
                {"raw": 11, "signalled_signal": 11, "signalled_name": "SIGSEGV"},
            ),
        ],
    )
    def test_a_record_has_the_status_of_a_failed_task(
        self, site: Site, task: str, code: int, status: dict[str, object]
    ) -> None:
        done = site.start("record", "sh", "-c", task)
        assert done.returncode == code
        assert (
            status.items()
            <= yaml.safe_load(done.stdout)[0]["mainjob"]["status"].items()
        )

    @pytest.mark.parametrize(
        ("argv", "code", "words"),
        [
            (["./absent", "argument"], 127, "cannot be started"),
            (["./no program", "argument"], 126, "cannot be started"),
            (["./windows"], 127, r"started: its first line names '/bin/sh\r', which"),
            (["-w", "/absent/folder", "true"], 127, "/absent/folder"),
        ],
    )
    def test_of_what_cannot_be_started(
        self, site: Site, argv: list[str], code: int, words: str
    ) -> None:
        (site.root / "no program").write_text("data")
        (site.root / "windows").write_text("#!/bin/sh\r\n")
        (site.root / "windows").chmod(0o755)
        done = site.start("record", *argv)
        (record,) = yaml.safe_load(done.stdout)
        assert done.returncode == code
        assert record["mainjob"]["status"]["regular_exitcode"] == code
        assert record["mainjob"]["procs"] is None
        assert words in record["files"]["stderr"]["data"]
        assert b"Traceback" not in done.stderr

    def test_a_record_that_cannot_be_written_fails_the_job(self, site: Site) -> None:
        site.start("record", "true")
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(
                [site.program("record"), "true"], stdout=full, stderr=subprocess.PIPE
            )
        assert done.returncode == 1
        assert b"record could not be written" in done.stderr


class TestStreams:
    def test_the_end_of_much_output_is_kept(self, site: Site) -> None:
        write = "import sys; sys.stdout.write('0123456789' * 30000 + 'the end')"
        stdout = recorded(site, sys.executable, "-c", write)["files"]["stdout"]
        assert stdout["size"] == 300007
        assert stdout["data_truncated"] is True
        assert len(stdout["data"]) == 256 * 1024
        assert stdout["data"].endswith("the end")

    @pytest.mark.parametrize(
        ("argv", "said"),
        [
            (["printf", r"\377\000\033 x"], "\\xff\0\x1b x"),
            (["-B", "5", "printf", "\u6f22" * 4], "\u6f22"),  # cut through a character
        ],
    )
    def test_what_is_no_text_can_be_read(
        self, site: Site, argv: list[str], said: str
    ) -> None:
        assert recorded(site, *argv)["files"]["stdout"]["data"] == said

    def test_no_signal_is_ignored_on_a_task_s_behalf(self, site: Site) -> None:
        """Python ignores SIGPIPE; a task that inherits that never ends in a pipe."""
        record = recorded(site, "grep", "SigIgn", "/proc/self/status")
        ignored = int(record["files"]["stdout"]["data"].split()[1], 16)
        assert not ignored & (1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1))


class TestFiles:
    def test_an_output_is_described(self, site: Site, tmp_path: Path) -> None:
        record = recorded(
            site, "-s", "out.txt=out.txt", "-w", str(tmp_path), "cp", "/etc/hostname",
            "out.txt",
        )  # fmt: skip
        found = record["files"]["out.txt"]
        assert found["lfn"] == "out.txt"
        assert found["file_name"] == str(tmp_path / "out.txt")
        assert found["size"] == (tmp_path / "out.txt").stat().st_size
        assert found["output"] is True

    def test_lists_of_files_are_found_where_the_job_starts(self, site: Site) -> None:
        """As pegasus-plan 5.1.3 writes them. A list that is missing fails no task."""
        (site.root / "mix.out.lof").write_text("out.txt\n")
        (site.root / "inner").mkdir()
        done = site.start(
            "record", "-S", "@./gone.in.lof", "-s", "@$_CONDOR_SCRATCH_DIR/mix.out.lof",
            "-w", "inner", "cp", "/etc/hostname", "out.txt", _CONDOR_SCRATCH_DIR=".",
        )  # fmt: skip
        (record,) = yaml.safe_load(done.stdout)
        assert record["mainjob"]["status"]["raw"] == 0
        found = record["files"]["out.txt"]
        assert found["file_name"] == str(site.root / "inner/out.txt")
        assert b"record: ./gone.in.lof: its files are not in the" in done.stderr

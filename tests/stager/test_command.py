"""`pegasus-bb stager`: lists of tasks, what was cancelled, and who moves what."""

from __future__ import annotations

import json
import subprocess
import sys

from pegasus_bb.core.errors import SCHEDULER_UNREACHABLE, USAGE
from pegasus_bb.runtime.stager_client.client import Client
from tests.support.forked import pegasus_bb
from tests.support.stager import Daemon, finished
from tests.support.waiting import until

STAGER = [sys.executable, "-m", "pegasus_bb", "stager"]


def said(daemon: Daemon, *words: str) -> subprocess.CompletedProcess[str]:
    return pegasus_bb(["stager", *words], daemon.folder, daemon.environ)


def test_a_list_is_submitted_and_its_numbers_come_back(
    daemon: Daemon, client: Client
) -> None:
    """From stdin: paths, places and names with blanks, one pair a line."""
    names = ["a", "with a blank", "b"]
    for name in names:
        daemon.make(name, 10)
    lines = [
        "from/a to/a",
        "",
        "'from/with a blank' 'to/with a blank'",
        f"file://{daemon.folder}/from/b to/b",
    ]
    done = subprocess.run(
        [*STAGER, "submit", "--deadline", "1h", "--list", "-"],
        cwd=daemon.folder,
        env=daemon.environ,
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
    )
    numbers = [int(line) for line in done.stdout.splitlines()]
    assert len(numbers) == 3, done.stderr
    assert said(daemon, "wait", *map(str, numbers)).returncode == 0
    assert all(map(daemon.arrived, names))
    assert "with a blank" in said(daemon, "status", "--all").stdout
    assert "no tasks" in said(daemon, "status").stdout


def test_a_list_that_is_wrong_names_its_line(daemon: Daemon, client: Client) -> None:
    listed = daemon.folder / "list"
    for line, why in (
        (
            "from/only",
            "line 2: SOURCE DEST, with quotes around blanks; found from/only",
        ),
        ("'from/a to/a", "line 2: No closing quotation; quote a name with blanks"),
    ):
        listed.write_text(f"from/a to/a\n{line}\n")
        done = said(daemon, "submit", "--list", str(listed))
        assert done.returncode == 2 and why in done.stderr
    done = said(daemon, "submit", "--list", str(listed), "from/a", "to/a")
    assert done.returncode == 2 and "not both" in done.stderr
    assert client.status() == []


def test_a_long_list_goes_in_several_requests(daemon: Daemon, client: Client) -> None:
    """One line of the protocol could not hold it."""
    daemon.pause()
    listed = daemon.folder / "list"
    path = f"{daemon.folder}/{'x' * 200}/" + "y" * 200
    listed.write_text("".join(f"{path}{number}\n" for number in range(20_000)))
    done = said(daemon, "submit", "--remove", "--json", "--list", str(listed))
    numbers = json.loads(done.stdout)["tasks"]
    assert len(set(numbers)) == 20_000
    assert len({task["request"] for task in client.status(numbers)}) > 1


def test_what_is_left_is_told_where_the_size_is_known(
    daemon: Daemon, client: Client
) -> None:
    """Of a file, and of a tree once a copy of that kind has ended."""
    for name in ("file", "tree/file"):
        daemon.make(name, 5_000_000)
    daemon.pause()
    for name in ("file", "tree"):
        paths = (f"{daemon.folder}/{kind}/{name}" for kind in ("from", "to"))
        assert said(daemon, "submit", *paths).returncode == 0
    file, tree = json.loads(said(daemon, "status", "--json").stdout)
    assert (file["seconds_left"], tree["seconds_left"]) == (0.06, None)
    shown = [line.split() for line in said(daemon, "status").stdout.splitlines()]
    assert [row[6] for row in shown[1:]] == ["0.1", "-"]
    daemon.resume()
    client.wait([file["id"], tree["id"]])
    daemon.pause()
    said(daemon, "submit", f"{daemon.folder}/from/tree", f"{daemon.folder}/to/more")

    def left() -> float | None:
        [more] = json.loads(said(daemon, "status", "--json").stdout)
        seconds: float | None = more["seconds_left"]
        return seconds

    # A worker says how long it took when its tasks have ended already.
    until(lambda: left() is not None)
    assert (left() or 0) > 0


def test_cancel_says_how_many_ended_so(daemon: Daemon, client: Client) -> None:
    daemon.make("file", 10)
    done = client.submit([daemon.copy("file")])
    client.wait(done)
    daemon.pause()
    waits = client.submit([daemon.copy("file")] * 2)
    numbers = [str(number) for number in (*done, *waits)]
    found = json.loads(said(daemon, "cancel", "--json", *numbers).stdout)
    assert found == {"cancelled": 2, "ending": 0}
    again = said(daemon, "cancel", *numbers).stdout
    assert again == "cancelled: 0 of 3 tasks\n"


def test_top_once_shows_users_and_targets(daemon: Daemon, client: Client) -> None:
    daemon.make("file", 1_000_000)
    finished(client, daemon.copy("file"))
    daemon.pause()
    client.submit([daemon.copy("file")] * 3)
    about = json.loads(said(daemon, "top", "--json").stdout)
    target = about["targets"]["file"]
    assert target["speed"] > 0
    assert {**target, "speed": 0} == {
        "rate": 0.0,
        "speed": 0,
        "bytes": 1_000_000,
        "pending": 3,
        "running": 0,
    }
    shown = said(daemon, "top").stdout
    assert "paused; go on with `control resume`" in shown and "MB/s" in shown


def test_what_the_service_refuses_is_no_bug_and_no_service_no_answer(
    daemon: Daemon, client: Client
) -> None:
    done = said(daemon, "cancel", "99")
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert "you have no task" in done.stderr
    nowhere = str(daemon.folder / "nowhere")
    done = said(daemon, "--sockets", nowhere, "status")
    assert done.returncode == SCHEDULER_UNREACHABLE, done.stderr

"""What a person is told when a run has not come to a good end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from pathlib import Path

from pegasus_bb.engine.commands import folder_of
from pegasus_bb.engine.kept import kept, lost
from pegasus_bb.engine.submitdir import SubmitDir
from pegasus_bb.engine.table import Item, State, Table
from pegasus_bb.errors import RESERVATION_FAILED
from pegasus_bb.planner.dag import Script

# Ours and Pegasus's: they answer 1 where the job has failed.
_EXITCODE, _PASSED_ON = ("exitcode", "pegasus-exitcode"), 1
_LANDED, _OWN = "landed", 3  # its own words before the POST script that it stands for

_SETUP = "bb_setup_"

_NODES = 5  # told in full
_LINES = 5  # of what the task wrote to standard error
_LONG = 600  # characters of a line: our own reasons with what would do are that long
_READ = 1 << 20


def ending(status: int) -> str:
    """How a process came to its end."""
    return f"signal {-status}" if status < 0 else f"exit status {status}"


def failure(event: str, detail: str) -> str:
    """What a failure in the journal means; ``detail`` is an exit status, or, where
    monitord writes of a POST script, the number of the job."""
    who = {"JOB": "job", "PRE": "PRE script", "POST": "POST script"}
    whose = who.get(event.partition("_")[0], "job")
    if detail.lstrip("-").isdigit():
        return f"its {whose} ended with {ending(int(detail))}"
    job = f" (job {detail})" if detail.strip("-") else ""
    if event.startswith("POST"):
        return f"its POST script found a failure in what its job left{job}"
    return f"its {whose} failed{job}"


def why_script(item: Item, kind: str, script: Script, status: int) -> str:
    """Why a node failed whose script ended with ``status``: the job's own failure is
    enough where the POST script only passes it on."""
    if kind == "post" and item.status:
        judge = Path(judged_by(script)).name in _EXITCODE
        if judge and status == _PASSED_ON:
            return f"its job ended with {ending(item.status)}"
    why = f"its {kind.upper()} script ended with {ending(status)}"
    if kind == "post" and item.status:
        why += f", its job with {ending(item.status)}"
    return why


def judged_by(post: Script) -> str:
    """The program that judges a node: what `landed` becomes in the end."""
    words = post.arguments.split()
    if Path(post.executable).name == _LANDED and len(words) > _OWN:
        return words[_OWN]
    return post.executable


def not_done(table: Table, place: SubmitDir, rescue: Path | None, how: str) -> str:
    """How far it came, which nodes failed and why, and how to go on."""
    counts, total = table.counts, len(table.items)
    failed = [i for i in table.items.values() if i.state is State.FAILED]
    left = total - counts[State.DONE] - len(failed)
    lines = [
        f"{how}: {counts[State.DONE]} of {total} nodes are done, "
        f"{len(failed)} failed, {left} were not brought to an end"
    ]
    lines += failed_nodes(failed, place.path)
    if rescue is not None:
        lines.append(f"rescue file: {rescue.name}")
    gone = lost(place)
    if gone:
        return "\n".join([*lines, *gone])
    lines.append(f"to go on:    pegasus-bb run {place.path}")
    if any(_was_refused(item) for item in failed):
        lines.append(
            "             (pool and capacity are the plan's: where one is the cause, "
            "plan again)"
        )
    return "\n".join([*lines, *kept(place)])


def _was_refused(item: Item) -> bool:
    return item.node.name.startswith(_SETUP) and item.status == RESERVATION_FAILED


def failed_nodes(items: Iterable[Item], submit_dir: Path) -> list[str]:
    """Lines about nodes that failed: why, where their files are, their last words."""
    items = list(items)
    lines: list[str] = []
    for item in items[:_NODES]:
        lines.append(f"  {item.node.name}: {item.reason}")
        for file in node_files(item, submit_dir):
            lines.append(f"    see {short(file, submit_dir)}")
        words = last_words(item, submit_dir) if item.status else []
        lines += [f"    | {line.rstrip()[:_LONG]}" for line in (*words, *item.said)]
    if len(items) > _NODES:
        lines.append(f"  and {len(items) - _NODES} more")
    return lines


def node_files(item: Item, submit_dir: Path) -> list[Path]:
    """The newest .out and .err of the node, where they are there."""
    base = folder_of(item.node, submit_dir) / item.node.submit_file
    found = (_newest(base.with_suffix(end)) for end in (".out", ".err"))
    return [file for file in found if file is not None]


def last_words(item: Item, submit_dir: Path) -> list[str]:
    """The last lines that the task wrote to standard error.

    A Kickstart record in .out carries them; else .err does.
    """
    words: list[str] = []
    for file in node_files(item, submit_dir):
        text = _tail(file)
        if "- invocation:" in text:
            words = _recorded_stderr(text)
        elif not words and ".err" in file.name:
            words = text.splitlines()
    return [line.rstrip()[:_LONG] for line in words if line.strip()][-_LINES:]


def _recorded_stderr(text: str) -> list[str]:
    """The block ``data: |`` under ``stderr:`` of the last record in ``text``."""
    lines = iter(text[text.rindex("- invocation:") :].splitlines())
    depth = _skip_to(lines, "stderr:", 0)
    depth = _skip_to(lines, "data: |", depth + 1) if depth >= 0 else depth
    if depth < 0:
        return []
    inside = takewhile(lambda line: not line.strip() or _indent(line) > depth, lines)
    return [line.strip() for line in inside]


def _skip_to(lines: Iterator[str], begins: str, least: int) -> int:
    """Go past the line that begins so, and give its depth; -1 where none comes."""
    for line in lines:
        depth = _indent(line)
        if line.strip() and depth < least:
            return -1
        if line[depth:].startswith(begins):
            return depth
    return -1


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _newest(file: Path) -> Path | None:
    """``file``, or the last of file.000, file.001 that the POST script made of it."""
    if file.exists():
        return file
    numbered = sorted(file.parent.glob(f"{file.name}.[0-9][0-9][0-9]"))
    return numbered[-1] if numbered else None


def _tail(file: Path) -> str:
    try:
        with file.open("rb") as source:
            source.seek(max(0, source.seek(0, 2) - _READ))
            return source.read().decode(errors="replace")
    except OSError:
        return ""


def short(file: Path, submit_dir: Path) -> str:
    """``file`` as a person finds it from the submit directory."""
    return str(file.relative_to(submit_dir) if submit_dir in file.parents else file)

"""Runs the command blocks of a page as a reader would: in one shell, in their order."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_BLOCK = re.compile(
    r"^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_FOLDER = re.compile(r"\A---\nfolder: (\S+)\n---\n")
_MARK = "END-OF-COMMAND"


@dataclass
class Command:
    """A line after ``$``, and what the page says it prints (``...``: anything)."""

    text: str
    expected: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class TitledFile:
    """A block with a title is a file that the reader makes."""

    name: str
    text: str


def steps(page: Path) -> Iterator[Command | TitledFile]:
    """The files and commands of ``page``, in their order."""
    for block in _BLOCK.finditer(page.read_text()):
        if block["title"]:
            yield TitledFile(block["title"], block["text"])
        elif block["language"] == "console":
            yield from _commands(block["text"])


def starting_folder(page: Path) -> str:
    """The folder that the page's front matter asks for; empty if there is none."""
    found = _FOLDER.match(page.read_text())
    return found[1] if found else ""


def _commands(text: str) -> Iterator[Command]:
    commands: list[Command] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append(Command(line[2:]))
        elif commands[-1].text.endswith("\\"):
            commands[-1].text += f"\n{line}"
        else:
            commands[-1].expected.append(line)
    yield from commands


class Session:
    """A shell in a folder. Raises AssertionError if a command does not do as said."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self._folder = folder
        self._shell = subprocess.Popen(
            ["bash", "--norc", "--noprofile"],
            cwd=folder,
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._shell.communicate()

    def do(self, step: Command | TitledFile) -> None:
        if isinstance(step, TitledFile):
            path = self._folder / step.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text)
            return
        status, printed = self._run(step.text)
        assert status == 0, f"$ {step.text}\nended with {status}:\n{printed}"
        assert _matches(step.expected, printed), (
            f"$ {step.text}\nprinted\n{printed}\nthe page says\n"
            + "\n".join(step.expected)
        )

    def _run(self, command: str) -> tuple[int, str]:
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        told = f"printf '\\n%s %s %s\\n' {_MARK} $? \"$PWD\""
        self._shell.stdin.write(f"{command}\n{told}\n")
        self._shell.stdin.flush()
        lines: list[str] = []
        for line in self._shell.stdout:
            if line.startswith(_MARK):
                _, status, folder = line.split(maxsplit=2)
                self._folder = Path(folder.rstrip("\n"))
                return int(status), "".join(lines)
            lines.append(line)
        raise AssertionError(f"the shell ended in: {command}\n{''.join(lines)}")


def _matches(expected: list[str], printed: str) -> bool:
    """``...`` alone is any lines, ``...`` in a line is any text; runs of blanks are
    equal. A command without expected lines may print nothing that we would compare."""
    if not expected:
        return True
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += "(?:.*\n)*"
        else:
            pattern += _line(line)
    text = "\n".join(" ".join(line.split()) for line in printed.strip().splitlines())
    return re.fullmatch(pattern, text + "\n") is not None


def _line(line: str) -> str:
    parts = " ".join(line.split()).split("...")
    return ".*".join(re.escape(part) for part in parts) + "\n"

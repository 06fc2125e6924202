"""Check commit messages: ``area: what changes``, and a line that begins ``Problem:``.

python3 packaging/check_commits.py RANGE, or --file FILE for a message that git writes.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_SUBJECT = re.compile(r"[a-z0-9][a-z0-9/_., -]*: \S.*")
_LONGEST = 88


def faults(message: str) -> Iterator[str]:
    """Yield what is wrong with a commit's message, a sentence each."""
    lines = [line for line in message.splitlines() if not line.startswith("#")]
    subject = lines[0] if lines else ""
    if not _SUBJECT.fullmatch(subject):
        yield f"the first line is {subject!r}; write `area: what changes`"
    if len(subject) > _LONGEST:
        yield f"the first line has {len(subject)} characters; at most {_LONGEST}"
    if len(lines) > 1 and lines[1]:
        yield "the second line is not empty"
    if not any(line.startswith("Problem:") for line in lines[1:]):
        yield "no line begins with `Problem:` and says why"


def messages(commits: str) -> dict[str, str]:
    """Read the messages of a range of commits by hash; merges need none."""
    argv = ["git", "log", "--no-merges", "-z", "--format=%h%n%B", commits]
    log = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    return dict(each.split("\n", 1) for each in log.split("\0") if each)


def main(argv: list[str]) -> int:
    """Print what is wrong; 1 if anything is."""
    if argv[0] == "--file":
        found = {argv[1]: Path(argv[1]).read_text(encoding="utf-8")}
    else:
        found = messages(argv[0])
    wrong = [
        f"{name}: {fault}" for name, text in found.items() for fault in faults(text)
    ]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Two processes read what one would, or one reads it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import ryaml

from pegasus_bb.model import halves

JOB = "- id: J{0}\n  arguments:\n  - a\n  - {0}\n  when: 2026-11-21\n"
JOBS = "".join(JOB.format(number) for number in range(6))


@pytest.fixture(autouse=True)
def short_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halves, "WORTH_A_PROCESS", 0)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is read in this process."""
    texts: list[str] = []

    def loads(text: str) -> Any:
        texts.append(text)
        return ryaml.loads(text)

    monkeypatch.setattr(halves, "fast_loads", loads)
    return texts


@pytest.mark.parametrize(
    "text",
    [
        f"name: w\njobs:\n{JOBS}",
        f"name: w\njobs:\n{JOBS}jobDependencies:\n- id: J1\nx-more: 1\n",
        f"jobs: []\nname: w\nreplicas:\n{JOBS}",
        "name: w\njobs:\n- id: J\njobDependencies:\n" + JOBS,
        f"name: w\njobs:\n{JOBS}" + "- text: |\n    - not\n    - a list\n",
    ],
)
def test_halves_say_what_the_whole_says(text: str, read: list[str]) -> None:
    found = halves.loads(text)
    assert found == ryaml.loads(text)
    assert list(found) == list(ryaml.loads(text))
    assert text not in read


@pytest.mark.parametrize(
    "text",
    [
        "name: w\njobs:\n- &j {id: J}\n- {id: K}\n- {id: L}\n- *j\n- *j\n- *j\n",
        f"name: w\njobs:\n{JOBS}" + "parts:\n- 1\n- 2\n" * 1 + "- 3\n" * 60,
        "name: w\njobs:\n- 'a\n- b\n- c'\n",
        "name: w\njobs:\n  - a\n  - b\n",
        "- a\n- b\n",
        "name: w\n",
    ],
)
def test_what_cannot_be_halved_is_read_whole(text: str, read: list[str]) -> None:
    assert halves.loads(text) == ryaml.loads(text)
    assert read[-1] == text


@pytest.mark.parametrize(
    "text",
    [
        f"name: w\njobs:\n{JOBS}name: again\n",
        f"name: w\njobs:\n{JOBS}jobs: []\n",
        f"name: w\njobs:\n{JOBS}- [\n",
        f"name: w\njobs:\n- [\n{JOBS}",
    ],
)
def test_a_mistake_is_found_where_the_whole_has_it(text: str) -> None:
    with pytest.raises(ryaml.InvalidYamlError) as whole:
        ryaml.loads(text)
    with pytest.raises(ryaml.InvalidYamlError) as found:
        halves.loads(text)
    assert str(found.value) == str(whole.value)


def test_what_the_other_process_read_is_the_same(tmp_path: Path) -> None:
    """In a process with one thread, for only that has another process help it."""
    text = f"name: w\njobs:\n{JOBS}"
    script = tmp_path / "story.py"
    script.write_text(
        "import os, sys, ryaml\nfrom pegasus_bb.model import halves\n"
        "halves.WORTH_A_PROCESS, forks, fork = 0, [], os.fork\n"
        "os.fork = lambda: forks.append(1) or fork()\n"
        "text = sys.stdin.read()\n"
        "print(halves.loads(text) == ryaml.loads(text), len(forks))\n"
    )
    argv = [sys.executable, "-W", "error", str(script)]
    done = subprocess.run(argv, input=text, capture_output=True, text=True)
    forks = 1 if (os.cpu_count() or 1) > 1 else 0
    assert done.stdout == f"True {forks}\n", done.stderr

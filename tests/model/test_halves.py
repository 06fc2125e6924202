"""Two processes read what one would, or one reads it."""

from __future__ import annotations

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

"""A file of the user's: nothing lost, order kept, every error has its line."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.document import expand, load


def written(folder: Path, text: str) -> Path:
    file = folder / "file.yml"
    file.write_text(text)
    return file


WORDS = "[yes, no, on, off, 2020-01-01, '5.0', 5.0.4, true, null]"
MERGED = """
plain: &p {cores: 1, queue: slow}
fast: &f {queue: fast}
one: {<<: *p, cores: 2}
two: {<<: [*f, *p]}
"""


@pytest.mark.parametrize(
    ("text", "key", "found"),
    [
        (
            f"a: {WORDS}",
            "a",
            ["yes", "no", "on", "off", "2020-01-01", "5.0", "5.0.4", True, None],
        ),
        ('{"b": [true, "${WHO}"], "a": {}}', "b", [True, "me"]),
        (MERGED, "one", {"cores": 2, "queue": "slow"}),
        (MERGED, "two", {"cores": 1, "queue": "fast"}),
    ],
)
def test_a_value_is_read_as_pegasus_reads_it(
    tmp_path: Path, text: str, key: str, found: object
) -> None:
    assert load(written(tmp_path, text), {"WHO": "me"}).data[key] == found


def test_a_catalog_inside_a_workflow_keeps_file_and_line(tmp_path: Path) -> None:
    file = written(tmp_path, "name: x\nsiteCatalog:\n  sites:\n    - name: here\n")
    below = load(file, {}).below("siteCatalog")
    error = below.error("wrong", ["sites", 0, "name"], "here", "there")
    assert str(error) == (
        f"{file}:4: wrong\n"
        "  key:      siteCatalog.sites.0.name\n"
        "  found:    here\n"
        "  fix:      there"
    )


def expanded(text: str, **variables: str) -> str:
    return expand(text, variables, "f.yml")


@pytest.mark.parametrize(
    ("text", "variables", "found"),
    [
        ("a/${USER}/b", {"USER": "me"}, "a/me/b"),
        ("${nersc_User}", {"NERSC_USER": "me"}, "me"),  # in any case
        (r"\${USER} ${USER}", {"USER": "me"}, "${USER} me"),
        ("${A}", {"A": "<${B}>", "B": "${C}", "C": "x"}, "<x>"),
        ("$USER $(x) {y} ${open", {"USER": "me"}, "$USER $(x) {y} ${open"),
        ("${A:-other}", {"A": "1"}, "1"),  # a default is not used
    ],
)
def test_variables(text: str, variables: dict[str, str], found: str) -> None:
    assert expanded(text, **variables) == found


@pytest.mark.parametrize(
    ("text", "variables", "what"),
    [
        ("a: 1\nb: 2\nc: x/${A}/y\n", {}, r"\$\{A\} is not set"),
        ("\n\n${A:-other}", {}, r"\$\{A\} is not set"),
        ("\n\n${A}", {"A": "x${B}", "B": "${a}"}, "never ends"),
    ],
)
def test_a_variable_that_cannot_be_replaced_is_an_error_with_its_line(
    text: str, variables: dict[str, str], what: str
) -> None:
    with pytest.raises(CatalogError, match=what) as error:
        expanded(text, **variables)
    assert (error.value.file, error.value.line) == ("f.yml", 3)
    assert error.value.found == text.splitlines()[2]
    assert "VALUE before planning" in error.value.would_do


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a: [1,\nb: }\n", 2, "is not YAML"),
        ("a: 1\nb: 2\na: 3\n", 3, "duplicate"),
        ("a: 1\n---\nb: 1\n", 2, "more than one document"),
        ("", 1, "not a mapping"),
        ("{[1]: 2}\n", 0, "is not YAML"),
        ("a: &a [*a]\n", 1, "is not YAML"),
        ("[" * 5000, 1, "is not YAML"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_a_line(
    tmp_path: Path, text: str, line: int, what: str
) -> None:
    with pytest.raises(CatalogError, match=what) as error:
        load(written(tmp_path, text), {})
    assert error.value.line == line


def test_a_file_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    def fix(name: str) -> str:
        with pytest.raises(CatalogError, match="No such file") as error:
            load(tmp_path / name, {})
        return error.value.would_do

    assert fix("site.yml") == f"the path of a file; {tmp_path} has no files *.yml"
    assert "No such file" in fix("folder/site.yml")
    for name in ("sites.yml", "tc.yml", "notes.txt", "odd\nname.yml"):
        (tmp_path / name).touch()
    (tmp_path / "site.d.yml").mkdir()
    assert fix("site.yml") == "did you mean sites.yml?"
    for name in ("workflow.yml", "nope.yml", "nope"):
        assert fix(name) == "one of tc.yml"  # a catalog by its own name is not meant
    for number in range(20):
        (tmp_path / f"{number}.yml").touch()
    assert "has many files *.yml" in fix("workflow.yml")


def test_a_bomb_of_aliases_is_refused_at_once(tmp_path: Path) -> None:
    levels = "abcdefghi"
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for below, name in pairwise(levels):
        lines.append(f"{name}: &{name} [{', '.join([f'*{below}'] * 9)}]")
    with pytest.raises(CatalogError, match="repetition limit"):
        load(written(tmp_path, "\n".join(lines)), {})


def test_a_large_file_is_read_by_a_python_without_ctypes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ctypes", None)
    file = written(tmp_path, "a: 1\n" + "# large\n" * 200_000)
    assert load(file, {}).data == {"a": 1}

"""x-storage-tiers, and each mistake with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.document import load
from pegasus_bb.model.tiers import CHOICES, Tier, keys_of, read_tiers

SHORT = {"datawarp": "dw", "directory": "dir", "node-local": "nl"}
SHORT["slurm-lua"] = "lua"
DOCUMENT = Path(__file__).parents[2] / "docs" / "tiers.md"


def read(folder: Path, text: str) -> dict[str, list[Tier]]:
    (folder / "sites.yml").write_text(text)
    return read_tiers(load(folder / "sites.yml", {}), {"local": 0, "cori": 0})


def tier(folder: Path, *lines: str) -> Tier:
    below = "".join(f"      {line}\n" for line in lines)
    text = f"x-storage-tiers:\n  cori:\n    - name: bb\n{below}"
    return read(folder, text)["cori"][0]


@pytest.mark.parametrize(
    ("line", "key", "what", "would_do"),
    [
        ("backend: lustre", "backend", "unknown backend", "one of datawarp, directory"),
        (
            "access: stripped",
            "access",
            "unknown access",
            "did you mean striped? It is one of striped, private",
        ),
        ("capcity: 1GiB", "capcity", "no such key", "did you mean capacity?"),
        ("path: /x", "path", "a datawarp tier has no such key", ""),
        ("capacity: 3.5TB", "capacity", "decimal sizes", "such as 700GiB"),
        ("capacity: 0", "capacity", "above zero", ""),
        ("capacity: [1]", "capacity", "a single value", ""),
        ('pool: "a\\nb"', "pool", "line break", ""),
    ],
)
def test_a_mistake_has_its_line(
    tmp_path: Path, line: str, key: str, what: str, would_do: str
) -> None:
    lines = ["backend: datawarp", line] if key != "backend" else [line]
    with pytest.raises(CatalogError, match=what) as error:
        tier(tmp_path, *lines)
    assert error.value.key == f"x-storage-tiers.cori.0.{key}"
    assert error.value.line == 3 + len(lines)
    assert would_do in error.value.would_do
    assert ("auto" in error.value.would_do) <= (key == "capacity")


@pytest.mark.parametrize(
    ("backend", "lines", "key", "what"),
    [
        ("directory", ["path: relative"], "path", "the absolute path of its folder"),
        ("directory", ["path: /x", "quota: 1.5GB"], "quota", "decimal"),
        ("directory", ["path: /x", "delay: soon"], "delay", "not a duration"),
        ("node-local", [], "path", "no full path"),
        ("node-local", ["path: nvme"], "path", "no full path"),
        ("node-local", ["path: $HOME/x"], "path", "HOME is no variable that it may"),
        ("node-local", ["path: /x/$TMPDIR"], "path", "whole path, which can only come"),
        ("node-local", ["path: /x/../y"], "path", "cannot be carried"),
        ("node-local", ["path: /x", "mount: no"], "mount", "unknown mount"),
        ("node-local", ["path: /x", "pool: p"], "pool", "has no such key"),
        ("node-local", ["path: /x", "largest: 1GiB"], "largest", "none asks"),
        (
            "node-local",
            ["path: /x", "cache: 1GiB", "submit_dir: local"],
            "cache",
            "a cache on the node would save nothing",
        ),
        ("datawarp", ["submit_dir: local"], "submit_dir", "blahp hands over no files"),
        ("slurm-lua", ["submit_dir: local"], "submit_dir", "blahp hands over no files"),
    ],
)
def test_a_backend_has_mistakes_of_its_own(
    tmp_path: Path, backend: str, lines: list[str], key: str, what: str
) -> None:
    with pytest.raises(CatalogError, match=what) as error:
        tier(tmp_path, f"backend: {backend}", *lines)
    assert error.value.key == f"x-storage-tiers.cori.0.{key}"


@pytest.mark.parametrize(
    ("line", "would_do"),
    [
        ("far: 5m", "one of name, backend"),
        ("timeout: 5m", "leave it out: it is for datawarp, directory, slurm-lua tiers"),
        ("muont: any", "did you mean mount?"),
        ("largets: 5GiB", "did you mean largest?"),
    ],
)
def test_only_a_close_key_is_suggested(
    tmp_path: Path, line: str, would_do: str
) -> None:
    with pytest.raises(CatalogError, match="no such key") as error:
        tier(tmp_path, "backend: node-local", "path: /x", line)
    assert error.value.would_do.startswith(would_do)


NAMED_B = "    - {name: b, backend: datawarp}\n"


@pytest.mark.parametrize(
    ("text", "line", "key", "what"),
    [
        (" [bb]\n", 1, "", "not a mapping"),
        ("\n  corri: []\n", 2, ".corri", "does not have"),
        ("\n  cori: []\n", 2, ".cori", "are a list"),
        ("\n  cori:\n    - bb\n", 3, ".cori.0", "a tier is a mapping"),
        ("\n  cori:\n    - {backend: datawarp}\n", 3, ".cori.0", "without a name"),
        ("\n  cori:\n    - {name: bb}\n", 3, ".cori.0", "without a backend"),
        ("\n  cori:\n    - {name: bb, backnd: x}\n", 3, ".cori.0", "backend in its"),
        ("\n  cori:\n" + 2 * NAMED_B, 4, ".cori.1.name", "one name"),
    ],
)
def test_a_declaration_of_another_shape(
    tmp_path: Path, text: str, line: int, key: str, what: str
) -> None:
    with pytest.raises(CatalogError, match=what) as error:
        read(tmp_path, f"x-storage-tiers:{text}")
    assert (error.value.line, error.value.key) == (line, f"x-storage-tiers{key}")


def documented() -> dict[str, list[str]]:
    """Key -> backend, values, default, meaning."""
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    return {key: rest for key, *rest in rows[2:]}


def test_the_document_lists_every_key_with_its_backends() -> None:
    known: dict[str, list[str]] = {}
    for backend in CHOICES["backend"]:
        for key in keys_of(backend):
            known.setdefault(key, []).append(backend)
    everywhere = list(CHOICES["backend"])
    assert {key: row[0] for key, row in documented().items()} == {
        key: "all" if backends == everywhere else ", ".join(map(SHORT.get, backends))
        for key, backends in known.items()
    }


def test_the_document_lists_choices_and_defaults() -> None:
    for key, allowed in CHOICES.items():
        _, values, default, _ = documented()[key]
        assert values == ", ".join(f"`{word}`" for word in allowed)
        assert default == getattr(Tier, key, "needed")

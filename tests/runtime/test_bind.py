"""The planned prefix becomes the real path, and nothing else changes."""

from __future__ import annotations

import pytest

from pegasus_bb.runtime.bind import Binding

REAL = "/var/opt/cray/dws/mounts/batch/pbb4f1c2a9e_striped_scratch"

ALIKE = [
    "/bb/pbb4f1c2a9eX/in.txt",  # another reservation whose name begins alike
    "/bb/pbb4f1c2a9e-2/in.txt",
    "/bb/pbb4f1c2a9e.bak",
    "/lus/bb/pbb4f1c2a9e/in.txt",  # another file system's folder of that name
    "/bb/other",
    "pbb4f1c2a9e",
    "",
]


@pytest.fixture
def binding() -> Binding:
    return Binding("/bb/pbb4f1c2a9e", REAL + "/")


@pytest.mark.parametrize(
    "before, after",
    [
        ("/bb/pbb4f1c2a9e", REAL),
        ("/bb/pbb4f1c2a9e/run/in.txt", f"{REAL}/run/in.txt"),
        ("file:///bb/pbb4f1c2a9e/x", f"file://{REAL}/x"),
        ("file://localhost/bb/pbb4f1c2a9e/x", f"file://localhost{REAL}/x"),
        ("symlink:///bb/pbb4f1c2a9e/./x", f"symlink://{REAL}/./x"),
        ("--out=/bb/pbb4f1c2a9e/x", f"--out={REAL}/x"),
        ("-I/bb/pbb4f1c2a9e/include", f"-I{REAL}/include"),
        ("cc '-I/bb/pbb4f1c2a9e/a b'", f"cc '-I{REAL}/a b'"),
        ("/a:/bb/pbb4f1c2a9e:/b", f"/a:{REAL}:/b"),
        ("'/bb/pbb4f1c2a9e/a','/bb/pbb4f1c2a9e/b'", f"'{REAL}/a','{REAL}/b'"),
        # What only looks like it stays.
        *((text, text) for text in ALIKE),
    ],
)
def test_a_path_of_the_buffer_is_bound_wherever_it_stands(
    binding: Binding, before: str, after: str
) -> None:
    assert binding.text(before) == after


@pytest.mark.parametrize(
    "real",
    [REAL, "/fast/bb/pbb4f1c2a9e", "/data (old)/bb/pbb4f1c2a9e", "/-/bb/pbb4f1c2a9e"],
)
def test_binding_twice_is_binding_once(real: str) -> None:
    binding = Binding("/bb/pbb4f1c2a9e", real)
    once = binding.text("cat /bb/pbb4f1c2a9e/a --bind /bb/pbb4f1c2a9e=X")
    assert f"cat {real}/a" in once
    assert binding.text(once) == once

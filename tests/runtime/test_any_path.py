"""No LFN and no URL, however it is written, leads out of where it belongs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.paths import is_below
from pegasus_bb.runtime.scratch_links import checked_path
from pegasus_bb.runtime.transfers.transfer_jobs import parse_url

PARTS = ["a", "deep", "..", ".", "", "out", "in", "loop", "file", "~", "\0", "x" * 256]
ODD = st.text(st.characters(exclude_characters="/"), max_size=4)
LFNS = st.lists(st.sampled_from(PARTS) | ODD, max_size=6).map("/".join)
PATHS = st.lists(st.sampled_from(PARTS) | ODD, min_size=1, max_size=6).map(
    lambda p: "/".join(["", *p])
)


def is_name(path: str) -> bool:
    """Half a surrogate pair is no name."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("site")
    folder = root / "scratch"
    (folder / "a" / "deep").mkdir(parents=True)
    (folder / "file").write_text("")
    (folder / "out").symlink_to(root)
    (folder / "in").symlink_to(folder / "a")
    (folder / "loop").symlink_to("loop")
    (folder / "a" / "out").symlink_to("../..")
    return folder


@given(lfn=LFNS)
@example(lfn="out/x")
@example(lfn="a/out/x")
@example(lfn="in/out/x")
@example(lfn="a/../../x")
@example(lfn="/etc/passwd")
@example(lfn="")
@example(lfn=".")
@example(lfn="\ud800")
@example(lfn="a/\ud800/x")
def test_an_lfn_lies_in_the_scratch_or_is_refused(scratch: Path, lfn: str) -> None:
    try:
        path = checked_path(str(scratch), lfn)
    except UsageError as error:
        assert repr(lfn) in str(error)
        return
    assert is_below(path, str(scratch))
    folder = os.path.realpath(Path(path).parent)
    assert folder == str(scratch) or is_below(folder, str(scratch))
    assert ".." not in lfn.split("/") and "\0" not in lfn


@given(path=PATHS)
@example(path="/a\ud800")
def test_a_path_in_a_job_list_is_taken_as_it_is(path: str) -> None:
    """No %-decoding, no query, no fragment; only a variable in front is expanded. What
    no file can be named by is refused."""
    if path.startswith(("/$", "//")):
        return
    for url in (path, f"file://{path}"):
        if not is_name(path):
            with pytest.raises(ValueError, match="surrogates not allowed"):
                parse_url(url)
            continue
        found = parse_url(url)
        assert (found.scheme, found.path) == ("file", path)


@given(path=PATHS, folder=PATHS)
def test_below_is_below(path: str, folder: str) -> None:
    # Two slashes in front are another root to normpath, but to no Linux.
    path, folder = (os.path.normpath(f"/{p.lstrip('/')}") for p in (path, folder))
    common = os.path.commonpath([path, folder])
    assert is_below(path, folder) == (common == folder and path != folder)

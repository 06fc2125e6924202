"""The job list is read as pegasus-transfer reads it."""

from __future__ import annotations

import pytest

from pegasus_bb.runtime.transfers.transfer_jobs import parse_url

# stage_in, create_dir and clean_up as pegasus-plan 5.1.2 wrote them.


@pytest.mark.parametrize(
    "text, scheme, path",
    [
        ("file://localhost/a", "file", "/a"),
        ("file:/a", "file", "/a"),
        ("symlink:///a", "symlink", "/a"),
        ("file://$SCRATCH/x", "file", "/scratch/me/x"),
        ("file://${SCRATCH}/x", "file", "/scratch/me/x"),
        ("file://$NOT_SET/x", "file", "$NOT_SET/x"),
        ("relative:name", "file", "relative:name"),
        ("http://host/x", "http", ""),
        ("scp://me@host:22/x", "scp", ""),
    ],
)
def test_a_url_is_read_as_pegasus_transfer_reads_it(
    text: str, scheme: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRATCH", "/scratch/me")
    url = parse_url(text)
    assert (url.scheme, url.path, url.text) == (scheme, path, text)
    assert url.is_local is (scheme in ("file", "symlink"))

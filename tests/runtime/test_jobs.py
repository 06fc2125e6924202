"""The job list is read as pegasus-transfer reads it."""

from __future__ import annotations

import pytest

from pegasus_bb.runtime.transfers.transfer_jobs import (
    Mkdir,
    Remove,
    Transfer,
    parse_url,
    read_jobs,
)

# stage_in, create_dir and clean_up as pegasus-plan 5.1.2 wrote them.
STAGE_IN = """[
 { "type": "transfer",
   "linkage": "input",
   "lfn": "in.txt",
   "id": 1,
   "src_urls": [
     { "site_label": "cori", "url": "file:///lus/input/in.txt", "priority": 50 }
   ],
   "dest_urls": [
     { "site_label": "cori", "url": "symlink:///bb/wfres/run0001/./in.txt" }
   ] }
]"""
CREATE_DIR = """[
  {
    "id": 1,
    "type": "mkdir",
    "target": { "site_label": "cori", "url": "file:///bb/wfres/run0001" } }
]"""
CLEAN_UP = """[
  {
    "id": 1,
    "type": "remove",
    "target": { "site_label": "cori", "url": "file:///bb/x", "recursive": "False" } }
  ,
  {
    "id": 2,
    "type": "remove",
    "target": { "site_label": "cori", "url": "file:///bb/y", "recursive": "True" } }
]"""


def test_what_pegasus_plan_writes() -> None:
    (stage_in,) = read_jobs(STAGE_IN)
    assert isinstance(stage_in, Transfer)
    assert (stage_in.lfn, stage_in.executable) == ("in.txt", False)
    assert stage_in.sources[0].path == "/lus/input/in.txt"
    assert stage_in.dests[0].scheme == "symlink"
    assert stage_in.dests[0].path == "/bb/wfres/run0001/./in.txt"
    (create,) = read_jobs(CREATE_DIR)
    assert isinstance(create, Mkdir) and create.url.site == "cori"
    removes = read_jobs(CLEAN_UP)
    assert [job.recursive for job in removes if isinstance(job, Remove)] == [
        False,
        True,
    ]


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

"""A job list comes back as it was written; any other text is refused in words."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.errors import UsageError
from pegasus_bb.runtime.transfers.jobs import Mkdir, Remove, Transfer, read_jobs

from .job_lists import folder, transfer

# Half a surrogate pair is no name: test_jobs.py.
_LETTERS = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
NAMES = st.text(_LETTERS, min_size=1, max_size=20)
PATHS = NAMES.map(lambda name: f"/{name.lstrip('/$')}")
JOBS = st.one_of(
    st.builds(transfer, NAMES, st.lists(PATHS, min_size=1, max_size=3), PATHS),
    st.builds(folder, st.sampled_from(["mkdir", "remove"]), PATHS, st.booleans()),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "target", "url", "src_urls", "dest_urls", "lfn"]),
            inner | st.sampled_from(["transfer", "mkdir", "remove"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


def urls(entries: list[dict[str, Any]]) -> list[str]:
    return [entry["url"].removeprefix("file://") for entry in entries]


@given(st.lists(JOBS, max_size=5))
def test_what_is_written_is_read_in_its_order(jobs: list[dict[str, Any]]) -> None:
    found = read_jobs(json.dumps(jobs))
    assert len(found) == len(jobs)
    for job, entry in zip(found, jobs, strict=True):
        if isinstance(job, Transfer):
            assert job.lfn == entry["lfn"]
            assert [url.path for url in job.sources] == urls(entry["src_urls"])
            assert [url.path for url in job.dests] == urls(entry["dest_urls"])
        else:
            kind = {"mkdir": Mkdir, "remove": Remove}[entry["type"]]
            assert isinstance(job, kind)
            assert [job.url.path] == urls([entry["target"]])


@given(JSON | st.lists(JSON, max_size=3))
def test_any_other_json_is_refused_or_read(data: object) -> None:
    try:
        found = read_jobs(json.dumps(data))
    except UsageError as error:
        assert str(error).startswith(("job list, entry ", "the job list"))
    else:
        assert isinstance(data, list) and len(found) == len(data)

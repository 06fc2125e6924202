"""Records of Pegasus 4: XML, one or many in a file, torn ones, hostile ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pegasus_bb.model.run import Problem, ProcessIdentity, Task
from pegasus_bb.report import kickstart_xml
from pegasus_bb.report.kickstart import read_tasks
from tests.report.sample_runs import only_problem, only_task, xml_text

Read = Callable[[str], "list[Task | Problem]"]
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def from_text(text: str) -> list[Task | Problem]:
        path = tmp_path / "merge_ID1.out.000"
        path.write_text(text, encoding="latin-1")
        return list(read_tasks(path, "merge_ID1"))

    return from_text


def names(entries: list[Task | Problem]) -> list[str | None]:
    return [e.transformation if isinstance(e, Task) else None for e in entries]


def test_what_a_record_says_of_its_task(read: Read) -> None:
    task = only_task(read(HEAD + xml_text("bio::merge:1.0")))
    assert (task.transformation, task.job) == ("bio::merge:1.0", "ID1")
    assert (task.site, task.host) == ("cori", "nid1")
    assert (task.start, task.duration) == (pytest.approx(1580723340.5), 1.5)
    assert (task.utime, task.stime, task.maxrss) == (0.25, 0.125, 2048 * 1024)
    assert task.exit_code == 0
    command = "/sw/bin/merge in.txt a & b"
    assert task.process == ProcessIdentity(42, "/scratch/run", command)
    # A parent's counters have its children's.
    assert (task.rchar, task.wchar) == (7000, 500)
    assert (task.rbytes, task.wbytes, task.iowait) == (4096, 512, 0.21)


@pytest.mark.parametrize(
    "torn", ["</mainjob>", "</invocation>\n", '<status raw="0">', 'size="500"/>']
)
def test_of_clustered_jobs_a_bad_record_costs_only_itself(
    read: Read, torn: str
) -> None:
    bad = "[cluster-task id=1, status=0]\n" + xml_text("bad").replace(torn, "")
    assert names(read(HEAD + xml_text("a") + bad + xml_text("b"))) == ["a", None, "b"]


def test_entities_are_never_defined(read: Read) -> None:
    bomb = '<!DOCTYPE i [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    assert only_problem(read(xml_text().replace("<mainjob", f"{bomb}<mainjob", 1)))
    with pytest.raises(ValueError, match="a DOCTYPE, which no record has"):
        kickstart_xml.load(b'<?xml version="1.0"?>' + bomb.encode() + b"<i>&b;</i>")

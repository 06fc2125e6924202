"""Records of Pegasus 4: XML, one or many in a file, torn ones, hostile ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pegasus_bb.model.run import FileUse, Problem, Process, Task
from pegasus_bb.report import kickstart_xml
from pegasus_bb.report.kickstart import read_tasks
from tests.report.made import only_problem, only_task, xml_text
from tests.support.counting import calls

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
    assert task.process == Process(42, "/scratch/run", command)
    # A parent's counters have its children's.
    assert (task.rchar, task.wchar) == (7000, 500)
    assert (task.rbytes, task.wbytes, task.iowait) == (4096, 512, 0.21)


def test_each_file_has_the_bytes_that_all_processes_moved(read: Read) -> None:
    at = "/scratch/run"
    assert only_task(read(xml_text())).files == (
        FileUse("out.txt", f"{at}/out.txt", 500, True, None, 500),
        FileUse("in.txt", f"{at}/in.txt", 1000, False, 4000, None),
    )


@pytest.mark.parametrize(
    "torn", ["</mainjob>", "</invocation>\n", '<status raw="0">', 'size="500"/>']
)
def test_of_clustered_jobs_a_bad_record_costs_only_itself(
    read: Read, torn: str
) -> None:
    bad = "[cluster-task id=1, status=0]\n" + xml_text("bad").replace(torn, "")
    assert names(read(HEAD + xml_text("a") + bad + xml_text("b"))) == ["a", None, "b"]


def test_a_file_that_ends_within_a_record_says_so(read: Read) -> None:
    problem = only_problem(read(xml_text() + xml_text()[:700])[1:])
    assert problem.file.endswith("(record 2)")
    assert "not XML of a record: " in problem.why


@pytest.mark.parametrize(
    "said",
    [
        "\x1b[31mred\x1b[0m\x00",
        "caf\xe9",
        "&lt;/invocation&gt;",
        "- invocation: True\n  start: now\n",
        "a < b && c",
    ],
)
def test_whatever_a_task_prints_its_record_is_read(read: Read, said: str) -> None:
    assert only_task(read(xml_text(said=said))).duration == 1.5


def test_names_may_be_in_an_encoding_of_their_own(read: Read) -> None:
    assert only_task(read(xml_text("caf\xe9"))).transformation == "caf\xe9"


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ('<status raw="2816"><regular exitcode="11"/></status>', 11),
        ('<status raw="139"><signalled signal="11" corefile="true"/></status>', 139),
        ('<status raw="-1"><failure error="2">no such file</failure></status>', -1),
        ('<status raw="256"/>', 1),
    ],
)
def test_every_way_to_end_is_a_code(read: Read, status: str, code: int) -> None:
    ended = '<status raw="0"><regular exitcode="0"/></status>'
    assert only_task(read(xml_text().replace(ended, status))).exit_code == code


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("mainjob", "setup", "no mainjob"),
        ('duration="1.500"', "", "not seconds"),
        ('duration="1.500"', 'duration="nan"', "not seconds"),
        ("<cwd>", "<cwd>&boom;", "undefined entity"),
        ("<cwd>", f"{'<a/>' * 400_001}<cwd>", "more than 400000 tags"),
        ("<cwd>", f"{'<a>' * 400_001}<cwd>", "more than 400000 tags"),
        ("<cwd>", f"{'<' * 400_001}<cwd>", "more than 400000 tags"),
    ],
    ids=["no mainjob", "no time", "no number", "entity", "tags", "deep tags", "<"],
)
def test_a_record_that_is_none_is_a_problem(
    read: Read, old: str, new: str, why: str
) -> None:
    assert why in only_problem(read(xml_text().replace(old, new))).why


def test_entities_are_never_defined(read: Read) -> None:
    bomb = '<!DOCTYPE i [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    assert only_problem(read(xml_text().replace("<mainjob", f"{bomb}<mainjob", 1)))
    with pytest.raises(ValueError, match="a DOCTYPE, which no record has"):
        kickstart_xml.load(b'<?xml version="1.0"?>' + bomb.encode() + b"<i>&b;</i>")


def test_elements_may_be_as_deep_as_the_limit_of_tags(read: Read) -> None:
    deep = "<a>" * 190_000 + "</a>" * 190_000
    assert only_task(read(xml_text().replace("<cwd>", f"{deep}<cwd>"))).duration == 1.5


def test_a_large_record_costs_as_much_as_its_files(read: Read) -> None:
    row = '<file name="/scratch/run/{}" bread="1" nread="1" bwrite="0" size="1"/>\n'

    def cost(files: int) -> int:
        rows = "".join(row.format(number) for number in range(files))
        text = xml_text().replace("</proc>", rows + "</proc>", 1)
        return calls(lambda: read(text))

    assert cost(3000) < 11 * cost(300)

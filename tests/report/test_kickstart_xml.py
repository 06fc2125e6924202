"""Records of Pegasus 4: XML, one or many in a file, torn ones, hostile ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pegasus_bb.model.run import FileUse, Problem, Task
from pegasus_bb.report import kickstart_xml
from pegasus_bb.report.kickstart import read_tasks
from tests.counting import calls
from tests.report.made import xml_text

Read = Callable[[str], "list[Task | Problem]"]
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def from_text(text: str) -> list[Task | Problem]:
        path = tmp_path / "merge_ID1.out.000"
        path.write_text(text, encoding="latin-1")
        return list(read_tasks(path, "merge_ID1"))

    return from_text


def only_task(entries: list[Task | Problem]) -> Task:
    (task,) = entries
    assert isinstance(task, Task), task
    return task


def names(entries: list[Task | Problem]) -> list[str | None]:
    return [e.transformation if isinstance(e, Task) else None for e in entries]


def test_who_ran_where_and_how_long(read: Read) -> None:
    task = only_task(read(HEAD + xml_text("bio::merge:1.0")))
    assert (task.transformation, task.job) == ("bio::merge:1.0", "ID1")
    assert (task.site, task.host) == ("cori", "nid1")
    assert task.duration == 1.5
    assert task.start == pytest.approx(1580723340.5)
    assert (task.utime, task.stime, task.maxrss) == (0.25, 0.125, 2048 * 1024)
    assert task.exit_code == 0


def test_a_parents_counters_have_its_childrens(read: Read) -> None:
    task = only_task(read(xml_text()))
    assert (task.rchar, task.wchar) == (7000, 500)
    assert (task.rbytes, task.wbytes, task.iowait) == (4096, 512, 0.21)


def test_each_file_has_the_bytes_that_all_processes_moved(read: Read) -> None:
    at = "/scratch/run"
    assert only_task(read(xml_text())).files == (
        FileUse("out.txt", f"{at}/out.txt", 500, True, None, 500),
        FileUse("in.txt", f"{at}/in.txt", 1000, False, 4000, None),
    )


def test_how_it_was_started_is_kept(read: Read) -> None:
    process = only_task(read(xml_text())).process
    assert process is not None
    assert (process.pid, process.cwd) == (42, "/scratch/run")
    assert process.command == "/sw/bin/merge in.txt a & b"


def test_clustered_jobs_leave_several_records_in_a_file(read: Read) -> None:
    text = HEAD + xml_text("a") + "[cluster-task id=1, status=0]\n" + xml_text("b")
    assert names(read(text + xml_text("c"))) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "torn", ["</mainjob>", "</invocation>\n", '<status raw="0">', 'size="500"/>']
)
def test_a_bad_record_costs_only_itself(read: Read, torn: str) -> None:
    bad = xml_text("bad").replace(torn, "")
    assert names(read(xml_text("a") + bad + xml_text("b"))) == ["a", None, "b"]


def test_a_file_that_ends_within_a_record_says_so(read: Read) -> None:
    _, problem = read(xml_text() + xml_text()[:700])
    assert isinstance(problem, Problem)
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
        ('start="2020-02-03T01:49:00.500', 'start="soon', "is not a time"),
        ('<status raw="0"><regular exitcode="0"/></status>', "", "exit code"),
        ("<cwd>", "<cwd>&boom;", "undefined entity"),
    ],
)
def test_a_record_without_the_essentials_is_a_problem(
    read: Read, old: str, new: str, why: str
) -> None:
    (problem,) = read(xml_text().replace(old, new))
    assert isinstance(problem, Problem)
    assert why in problem.why


def test_numbers_that_are_none_become_unknown(read: Read) -> None:
    text = xml_text().replace('"7000"', '"-5"').replace('"500"', f'"{"9" * 30}"')
    task = only_task(read(text.replace('utime="0.250"', 'utime="much"')))
    assert (task.rchar, task.wchar, task.utime) == (None, None, None)
    assert task.stime == 0.125


def test_entities_are_never_defined(read: Read) -> None:
    bomb = '<!DOCTYPE i [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    doctype = xml_text().replace("<mainjob", f"{bomb}<mainjob", 1)
    (problem,) = read(doctype)
    with pytest.raises(ValueError, match="a DOCTYPE, which no record has"):
        kickstart_xml.load(b'<?xml version="1.0"?>' + bomb.encode() + b"<i>&b;</i>")
    assert isinstance(problem, Problem)


@pytest.mark.parametrize("tags", ["<a/>" * 400_001, "<a>" * 400_001, "<" * 400_001])
def test_tags_without_end_are_refused(read: Read, tags: str) -> None:
    (problem,) = read(xml_text().replace("<cwd>", f"{tags}<cwd>"))
    assert isinstance(problem, Problem)
    assert "more than 400000 tags" in problem.why


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

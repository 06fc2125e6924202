"""Several nodes have results for one destination."""

from __future__ import annotations

from pegasus_bb.stager.nodes.contents import Found, conflicts, divide

OUT = ("node://out", "/lus/out")


def test_a_file_and_a_folder_of_one_name_are_a_conflict() -> None:
    found: Found = {"n1": {"node://out": {"": "1"}}, "n2": {"node://out": {"a": "2"}}}
    [said] = conflicts(found, [OUT])
    assert "is a file on n1 and a folder elsewhere" in said


def test_a_result_that_one_node_has_is_copied_from_there() -> None:
    found: Found = {"n1": {}, "n2": {"node://out": {"": "1"}}}
    assert divide(found, [OUT]) == {"n1": [], "n2": [OUT]}


def test_a_result_that_no_node_has_is_missed_once() -> None:
    found: Found = {"n1": {}, "n2": {}}
    assert divide(found, [OUT]) == {"n1": [OUT], "n2": []}

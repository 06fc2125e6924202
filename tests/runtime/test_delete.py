"""bb_delete gives back only what cannot be lost any more."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pegasus_bb.core import ledger
from pegasus_bb.runtime.backends.folder_tier import FolderBackend
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.programs.delete import release
from pegasus_bb.runtime.staging.folder_lfns import digest_path
from tests.support.run_programs import NAME, UUID, Run, kept


@pytest.fixture
def run(run: Run) -> Run:
    run.opens_its_gate()
    (run.folder() / "scratch").write_text("only here")
    return run


def test_with_all_results_safe_it_is_given_back(run: Run) -> None:
    run.stage_out("one.txt")
    run.stage_out("two.txt", "")
    assert run.delete() == 0
    assert "given back" in run.said
    assert not run.stands
    released_at = run.noted().released_at
    assert released_at is not None
    assert [e["event"] for e in ledger.find(NAME)] == ["released", "requested"]
    assert run.delete() == 0
    assert "given back before" in run.said
    assert run.noted().released_at == released_at


# -- what is not safe


def test_a_result_that_stage_out_never_noted_keeps_everything(run: Run) -> None:
    run.stage_out("one.txt")
    run.promise({**run.read("placement.json")["outputs"], "two.txt": "/out/two.txt"})
    assert run.delete() == 79
    said = run.said
    assert "1 of 2 promised results are not safe" in said
    assert "two.txt: no stage-out has noted that it is whole" in said
    assert f"{NAME} (100.0 MiB, directory)" in said
    assert f"pegasus-bb run {run.submit}" in said
    assert f"pegasus-bb release {NAME} --discard" in said
    assert kept(run)
    assert run.noted().released_at is None


def test_of_one_that_was_taken_away_no_file_remains(run: Run) -> None:
    run.promise({"one.txt": "/out/one.txt"})
    run.vanish()
    assert run.delete() == 79
    said = run.said
    assert "is not there any more: 1 of 1 promised results are lost" in said
    assert f"pegasus-bb run --restart {run.submit}" in said
    assert "resume" not in said and "look" not in said
    release(run.bb, discard=True)
    assert run.noted().released_at is not None


def test_of_one_that_was_taken_away_a_file_on_the_pfs_remains(run: Run) -> None:
    plan_scratch(run, here="/out/here")
    (run.root / "pfs").mkdir()
    (run.root / "pfs" / "here").write_text("the last copy")
    run.vanish()
    assert run.delete() == 79
    said = run.said
    assert "1 of 1 promised results are not safe" in said
    assert f"to be copied by hand:\n  {run.root / 'pfs' / 'here'}\n" in said


def plan_scratch(run: Run, **outputs: str) -> None:
    run.promise(outputs)
    places = {"scratch": f"/bb/{NAME}/me/run1", "pfs_scratch": str(run.root / "pfs")}
    run.write("placement.json", {**run.read("placement.json"), **places})


def test_what_is_still_on_the_buffer_is_told(run: Run) -> None:
    plan_scratch(run, here="/out/here", gone="/out/gone", slow="/out/slow")
    left = run.folder() / "me" / "run1" / "here"
    left.parent.mkdir(parents=True)
    left.write_text("the last copy")
    (run.root / "pfs").mkdir()
    (run.root / "pfs" / "slow").write_text("the last copy")
    assert run.delete() == 79
    said = run.said
    assert f"still on {NAME}" in said
    assert f"\n  {left}\n" in said and f"\n  {run.root / 'pfs' / 'slow'}\n" in said
    assert "run1/gone" not in said


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda dest, run: dest.unlink(), "No such file"),
        (lambda dest, run: dest.write_text("resul"), "has 5 bytes, expected 6"),
        (lambda dest, run: dest.write_text("resulT"), "expected sha256:"),
        (lambda dest, run: lead_to_buffer(dest, run), "a link may lead to the buffer"),
        (lambda dest, run: move_to_buffer(run), "lies on the reservation itself"),
        (
            lambda dest, run: run.promise({"one.txt": "gsiftp://far.away/one.txt"}),
            "cannot be looked at from here",
        ),
        (lambda dest, run: set_time_back(dest), "expected sha256:"),
        (lambda dest, run: guard_by_digest(run), "expected sha256:of what it was"),
    ],
)
def test_a_result_that_is_not_what_was_noted_keeps_everything(
    run: Run, damage: Callable[[Path, Run], object], why: str
) -> None:
    damage(run.stage_out("one.txt", "result"), run)
    assert run.delete() == 79
    assert why in run.said
    assert kept(run)


def set_time_back(dest: Path) -> None:
    before = dest.stat()
    with dest.open("r+b") as file:
        file.write(b"X")
    os.utime(dest, ns=(before.st_atime_ns, before.st_mtime_ns))


def guard_by_digest(run: Run) -> None:
    """Everything is read again, though it has not changed."""
    run.stage_out("one.txt", digest="sha256:of what it was")
    run.change(guard="digest")


def lead_to_buffer(dest: Path, run: Run) -> None:
    dest.unlink()
    dest.symlink_to(run.folder() / "scratch")


def move_to_buffer(run: Run) -> None:
    run.results.rename(run.folder() / "out")
    run.results.symlink_to(run.folder() / "out")


@pytest.mark.parametrize(
    "manifest",
    [
        {"uuid": "another-run"},
        {"dest": "/somewhere/else"},
        {"digest": "", "stat": []},
        {"size": 7},
    ],
    ids=str,
)
def test_a_line_that_vouches_for_something_else(
    run: Run, manifest: dict[str, object]
) -> None:
    run.stage_out("one.txt", **manifest)
    assert run.delete() == 79
    assert kept(run)


def test_a_torn_line_vouches_for_nothing(run: Run) -> None:
    run.stage_out("one.txt")
    run.stage_out("two.txt")
    journal = run.submit / "bb" / "manifest.jsonl"
    odd = json.dumps({"lfn": [], "uuid": UUID}).encode() + b"\n"
    journal.write_bytes(journal.read_bytes()[:-20] + b"\xff\n{\n" + odd)
    assert run.delete() == 79
    run.stage_out("two.txt")  # stage-out runs again
    assert run.delete() == 0


def test_a_result_that_is_a_folder_is_looked_at_file_by_file(run: Run) -> None:
    dest = run.stage_out("one.txt")
    dest.unlink()
    dest.mkdir()
    (dest / "part").write_text("result")
    journal = run.submit / "bb" / "manifest.jsonl"
    line = {**json.loads(journal.read_text()), "digest": digest_path(str(dest))}
    journal.write_text(json.dumps(line) + "\n")
    (dest / "part").write_text("changed")
    assert run.delete() == 79
    (dest / "part").write_text("result")
    assert run.delete() == 0


@pytest.mark.parametrize(
    "text",
    [
        None,
        "{",
        "{}",
        "[]",
        "null",
        '{"files": {}, "outputs": []}',
        '{"files": {}, "outputs": {}, "prefix": "/bb/another"}',
    ],
)
def test_a_placement_that_promises_nothing_keeps_everything(
    run: Run, text: str | None
) -> None:
    run.lose("placement.json")
    if text is not None:
        (run.submit / "bb" / "placement.json").write_text(text)
    assert run.delete() == 2
    assert kept(run)


# -- what the scheduler says


def test_bb_delete_keeps_the_reservation_without_an_answer(run: Run) -> None:
    run.change(fail="status: unreachable")
    assert run.delete() == 78
    assert kept(run)
    assert run.noted().released_at is None


def test_a_reservation_that_stays_after_its_release_is_an_error(run: Run) -> None:
    run.change(fail="delete: dwsd: device busy")
    assert run.delete() == 76
    assert "device busy" in run.said
    assert run.noted().released_at is None


def test_a_release_that_only_claims_success_is_an_error(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FolderBackend, "delete", lambda *_: None)
    assert run.delete() == 76
    assert "still there" in run.said
    assert run.noted().released_at is None


def test_the_reservation_of_another_run_is_kept(run: Run) -> None:
    identity = run.folder() / ".pegasus_bb"
    identity.write_text(identity.read_text().replace(UUID, "other-run"))
    assert run.delete() == 76
    assert "other-run" in run.said
    assert kept(run)


def test_a_reservation_that_is_gone_already_is_a_success_with_a_message(
    run: Run,
) -> None:
    run.vanish()
    assert run.delete() == 0
    assert "not there" in run.said


# -- by hand


@pytest.mark.parametrize("noted", [True, False])
def test_release_with_discard_drops_unsaved_data(run: Run, noted: bool) -> None:
    run.promise({"one.txt": "/out/one.txt"})
    if not noted:
        run.lose("reservation.json")
    assert "given back" in release(BBDir(run.bb.path), discard=True)
    assert not run.stands
    assert ledger.find(NAME)[0]["event"] == "discarded"


# -- reservation.json is lost


def test_without_its_note_it_is_found_and_given_back(run: Run) -> None:
    run.stage_out("one.txt")
    run.lose("reservation.json")
    assert run.delete() == 0
    assert "was given back" in run.said
    assert not run.stands
    assert run.noted().released_at is not None


@pytest.mark.parametrize("gone", [False, True])
def test_without_its_note_results_are_guarded_as_ever(run: Run, gone: bool) -> None:
    asked = run.noted().requested_at
    run.promise({"one.txt": "/out/one.txt"})
    if gone:
        run.vanish()
    run.lose("reservation.json")
    assert run.delete() == 79
    if not gone:
        assert kept(run)
        assert run.noted().requested_at == asked, "noted again as it was"


@pytest.mark.parametrize("missing", ["plan.json", "placement.json"])
def test_a_plan_that_was_killed_is_no_success(tmp_path: Path, missing: str) -> None:
    run = Run(tmp_path / "fresh")
    run.write("plan.json", {"version": 2})
    run.lose(missing)
    assert run.delete() == 2
    said = run.said
    assert missing in said and "plan again" in said


# -- never made


@pytest.fixture
def refused(tmp_path: Path, ledger: Path) -> Run:
    run = Run(tmp_path, fail="create*1: no such pool")
    run.promise({"one.txt": "/out/one.txt"})
    assert run.setup() == 76
    return run


def test_of_what_was_refused_nothing_is_there_to_give_back(refused: Run) -> None:
    assert refused.delete() == 0
    assert "never made, so there is nothing to give back" in refused.said
    assert refused.setup() == 0  # it may still be asked for


@pytest.mark.parametrize("witness", ["ready.json", "manifest.jsonl", "the buffer"])
def test_where_anything_contradicts_the_refusal_it_is_kept(
    refused: Run, witness: str
) -> None:
    if witness == "ready.json":
        refused.write(witness, {"requested_at": 1.0})
    elif witness == "manifest.jsonl":
        refused.stage_out("two.txt")
    else:
        refused.backend().create(refused.request)
    assert refused.delete() == 79
    assert refused.folder().is_dir() is (witness == "the buffer")

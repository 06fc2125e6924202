"""dw_wlm_cli when things go wrong: attacks, crowds, damage."""

from __future__ import annotations

import pytest

from testbed.tests.conftest import MIB, UID, Dw
from tests.support.hostile_names import HOSTILE

NAMES = [*HOSTILE, "", " ", "..", ".hidden", "/etc", "../../etc/passwd"]
NAMES += ["--hurry", "`id`", "a%u", "\udcff"]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_hostile_name_is_refused_and_leaves_nothing(dw: Dw, name: str) -> None:
    before = sorted(dw.place.root.rglob("*"))
    words = ["-c", "CLI", "-t", name, "-u", str(UID), "-C", f"wlm_pool:{MIB}"]
    dw.refused("create_persistent", *words)
    script = dw.script()
    dw.refused("teardown", "--token", name, "--job", script)
    dw.refused("paths", "--job", script, "--token", name, "--pathfile", "/tmp/x")
    dw.refused("real_size", "--token", name)
    after = sorted(dw.place.root.rglob("*"))
    new = {p.name for p in set(after) - set(before)}
    assert new <= {"calls.jsonl", "accounts.lock"}
    assert "'" not in dw.good("show_sessions")


# -- many at a time


def test_a_crowd_gets_what_there_is_and_not_more(dw: Dw) -> None:
    callers = [dw.start(*dw.create_words(f"b{n}", 200 * MIB)) for n in range(8)]
    said = [(p.communicate(timeout=30)[0], p.returncode) for p in callers]
    assert sorted(status for _, status in said) == [0] * 5 + [1] * 3
    assert all("no space left" in text for text, status in said if status)
    assert dw.free() == 24
    ids = {row["id"] for row in dw.show("instances") + dw.show("sessions")}
    assert len(ids) == 10


def test_damaged_accounts_are_never_begun_anew(dw: Dw) -> None:
    dw.create("csb")
    dw.place.accounts.write_text("{")
    assert "not readable" in dw.refused("pools")
    assert "not readable" in dw.refused(*dw.create_words("other"))
    assert dw.place.accounts.read_text() == "{"

"""pegasus.properties and -D: found and layered as pegasus-plan does it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.core.errors import UsageError
from pegasus_bb.model import property_files
from pegasus_bb.model.property_files import read_properties
from pegasus_bb.model.settings import Properties

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "cwd").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "conf").write_text("who = conf\n")
    (tmp_path / "cwd" / "pegasus.properties").write_text("who = cwd\nwhere = cwd\n")
    (tmp_path / "home" / ".pegasusrc").write_text("who = home\n")
    return tmp_path


def read(
    here: Path, *defines: str, conf: Path | None = None, **environ: str
) -> Properties:
    etc = here / "etc"
    return read_properties(
        conf, defines, here / "cwd", here / "home", environ=environ, installed=etc
    )


def test_each_file_wins_over_those_before(here: Path) -> None:
    """As in Pegasus 5.1.3: its own, the user's, the folder's, that of --conf."""
    (here / "etc").write_text("who = all\nof = all\n")
    (here / "home" / ".pegasusrc").write_text("who = home\nat = home\n")
    rest = {"of": "all", "at": "home", "where": "cwd"}
    assert dict(read(here, conf=here / "conf")) == {"who": "conf", **rest}
    assert dict(read(here, conf=here / "nowhere")) == {"who": "cwd", **rest}
    (here / "cwd" / "pegasus.properties").unlink()
    assert dict(read(here)) == {"who": "home", "of": "all", "at": "home"}


def test_the_mark_that_editors_of_windows_write_first_is_no_part_of_a_key(
    here: Path,
) -> None:
    (here / "conf").write_bytes(b"\xef\xbb\xbfwho = conf\n")
    assert read(here, conf=here / "conf")["who"] == "conf"


def test_the_environment_wins_over_files_and_a_define_over_it(here: Path) -> None:
    variables = {"_PEGASUS__BB__MODE": "off", "_PEGASUS__Bb__Poll": " 5s ", "who": "no"}
    variables["_PEGASUS_WF_SUBMIT_DIR"] = "/no/property"
    found = read(here, "pegasus.bb.mode=persistent", **variables)
    assert found["pegasus.bb.mode"] == "persistent"
    assert found["pegasus.bb.poll"] == "5s"
    assert found.origin("pegasus.bb.poll") == "_PEGASUS__Bb__Poll"
    assert found["who"] == "cwd"
    assert len(found) == 4


def test_a_value_names_other_properties_and_no_variables(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is neither a property nor one of Java's own is nothing, as for Pegasus."""
    monkeypatch.setenv("HOME", "/home/ann")
    (here / "conf").write_text("a = ${where}/${user.home}/${HOME}x ${b c} $d\n")
    assert read(here, conf=here / "conf")["a"] == "cwd//home/ann/x ${b c} $d"


def test_a_reference_leads_on_to_others_and_to_a_define(here: Path) -> None:
    """As in Pegasus 5.1.3, which has what -D says among Java's properties."""
    (here / "conf").write_text("a = ${b}\nb = ${c}\nc = 1\nd = ${x}\ne = [${e}]\n")
    found = read(here, "x=9", conf=here / "conf")
    assert {key: found[key] for key in "abd"} == {"a": "1", "b": "1", "d": "9"}
    assert "$" not in found["e"]


def test_a_user_without_a_name_has_an_empty_one(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_name() -> str:
        raise KeyError("getpwuid(): uid not found: 12345")

    monkeypatch.setattr(property_files, "getuser", no_name)
    (here / "conf").write_text("a = ${user.name}x\n")
    assert read(here, conf=here / "conf")["a"] == "x"


def test_a_define_wins_over_the_file_and_the_last_over_the_first(here: Path) -> None:
    found = read(here, "who=first", "who = last ", "new=a=b")
    assert dict(found) == {"who": "last", "where": "cwd", "new": "a=b"}
    assert str(found.error("who", "is bad")).startswith("-D: is bad")


@pytest.mark.parametrize("define", ["who", "=x", " =x", ""])
def test_a_define_without_key_or_value_is_refused(here: Path, define: str) -> None:
    with pytest.raises(UsageError, match="-Dkey=value"):
        read(here, define)


@given(st.dictionaries(TEXT.filter(bool), TEXT, max_size=5))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, str]
) -> None:
    text = Properties({}).with_values(values, "us").to_text()
    assert text.isascii() and text.count("\n") == len(values)
    conf = tmp_path_factory.getbasetemp() / "written.properties"
    conf.write_text(text)
    found = read_properties(conf, (), conf.parent, conf.parent)
    assert list(found.items()) == [
        (key, value.strip()) for key, value in values.items()
    ]

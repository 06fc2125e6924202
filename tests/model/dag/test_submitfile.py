"""Submit files: Pegasus's are read, ours carry any argument there and back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pegasus_bb.core.errors import CatalogError, UsageError
from pegasus_bb.model.dag.submitfile import (
    SubmitFile,
    quote_arguments,
    quote_environment,
    read_submit,
)
from tests.support.counting import calls

RECORDED = Path(__file__).parent / "recorded"
GATED = RECORDED.parents[2] / "recorded" / "pegasus-5.1.2" / "gated" / "00" / "00"


def read(tmp_path: Path, text: str, **variables: str) -> SubmitFile:
    file = tmp_path / "job.sub"
    file.write_text(text, encoding="utf-8")
    return read_submit(file, variables)


def test_a_compute_job_of_pegasus() -> None:
    job = read_submit(GATED / "cat1_ID0000002.sub", {"cluster": "41", "process": "0"})
    assert job.executable == "/home/wfuser/wf/launch.py"
    assert job.universe == "grid"
    assert job.arguments[:4] == [
        "--bind",
        "/bb/wfres=DW_PERSISTENT_STRIPED_wfres",
        "--",
        "/opt/pegasus/bin/pegasus-kickstart",
    ]
    assert job.arguments[-2:] == ["in.txt", "mid.txt"]
    assert job.environment["CONDOR_JOBID"] == "41.0"
    assert job.environment["PEGASUS_SCRATCH_DIR"].startswith("/bb/wfres/")
    assert job.output == "/home/wfuser/wf/submit/bb1//00/00/cat1_ID0000002.out"
    assert job.attributes["pegasus_site"] == "cori"
    assert job.attributes["pegasus_cores"] == "1"


def test_a_local_job_of_pegasus() -> None:
    job = read_submit(GATED / "bb_setup_ID0000001.sub", {})
    assert job.universe == "local"
    assert job.arguments[0] == "-n"
    assert job.arguments[-1] == "/home/wfuser/wf/bb_setup.sh"
    assert job.environment["PEGASUS_SITE"] == "local"
    assert job.initialdir.endswith("/run0001")


def test_a_pool_job_of_pegasus_starts_in_the_folder_on_the_site() -> None:
    job = read_submit(RECORDED / "condor.sub", {})
    assert job.initialdir == ""
    assert (
        job.remote_initialdir == "/home/wfuser/wf/scratch/wfuser/pegasus/demo/run0001"
    )


def test_macros_come_from_the_file_and_from_the_node(tmp_path: Path) -> None:
    job = read(
        tmp_path,
        "Executable = $(where)/run\nwhere = /opt\nsize = 3\n"
        'arguments = "$(size) $(SIZE) $(DOLLAR)(size) $(none) $(none:other) $(RETRY)"\n'
        "queue\n",
        size="7",
        RETRY="2",
    )
    assert job.executable == "/opt/run"
    assert job.arguments == ["7", "7", "$(size)", "other", "2"]


def test_an_attribute_of_a_node_reaches_the_job(tmp_path: Path) -> None:
    text = "executable = x\nqueue\n"
    file = tmp_path / "job.sub"
    file.write_text(text)
    job = read_submit(file, {"My.DAGNodeRetry": "$(RETRY)", "RETRY": "1", "+x": '"y"'})
    assert job.attributes["DAGNodeRetry"] == "1"
    assert job.attributes["x"] == "y"


def test_the_old_syntax(tmp_path: Path) -> None:
    job = read(
        tmp_path,
        'executable = x\narguments = one  \\"two\\" it\'s\n'
        "environment = A=1;B=two words;C=\nqueue\n",
    )
    assert job.arguments == ["one", '"two"', "it's"]
    assert job.environment == {"A": "1", "B": "two words", "C": ""}


def test_nothing_behind_an_equal_sign_is_nothing(tmp_path: Path) -> None:
    job = read(
        tmp_path, "executable = x\narguments =\nuniverse =\nerror = $(no)\nqueue"
    )
    assert (job.arguments, job.universe, job.error) == ([], "vanilla", "")


def test_the_new_syntax(tmp_path: Path) -> None:
    job = read(
        tmp_path,
        "executable = x\n"
        "arguments = \"one 'two  words' it''s '' \"\"quoted\"\" a'b c'd 'don''t'\"\n"
        "environment = \"A=1 B='two words' 'C=three words' D=\"\nqueue 1\n",
    )
    assert job.arguments == [
        "one",
        "two  words",
        "its",  # two quotes outside of quotes are an empty quoted string
        "",
        '"quoted"',
        "ab cd",
        "don't",
    ]
    assert job.environment == {"A": "1", "B": "two words", "C": "three words", "D": ""}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("arguments = x\nqueue\n", "names no executable"),
        ("executable = x\nqueue 5\n", "queue 5"),
        ('executable = x\narguments = "it\'s"\nqueue\n', "not closed"),
        ('executable = x\narguments = "a" b"\nqueue\n', "do not match"),
        ('executable = x\narguments = "\nqueue\n', "do not match"),
        ('executable = x\nenvironment = "A"\nqueue\n', "NAME=value"),
    ],
)
def test_a_mistake_names_the_file(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(CatalogError) as caught:
        read(tmp_path, text)
    assert str(tmp_path / "job.sub") in str(caught.value)
    assert says in str(caught.value)


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="cannot be read"):
        read_submit(tmp_path / "no.sub", {})
    (tmp_path / "job.sub").write_bytes(b"executable = \xff\n")
    with pytest.raises(CatalogError, match="not UTF-8"):
        read_submit(tmp_path / "job.sub", {})


@pytest.mark.parametrize("evil", ["a\nqueue 100", "a\0b", "a\rb"])
def test_a_newline_never_reaches_a_submit_file(evil: str) -> None:
    with pytest.raises(UsageError, match="newline or NUL"):
        quote_arguments(["fine", evil])
    with pytest.raises(UsageError, match="newline or NUL"):
        quote_environment({"A": evil})
    with pytest.raises(UsageError, match="name cannot stand"):
        quote_environment({f"A{evil}": "1"})


def test_the_one_text_that_htcondor_cannot_carry_is_refused() -> None:
    with pytest.raises(UsageError, match="no way to say it"):
        quote_arguments(["$(Dollar)"])


def test_harmless_arguments_are_written_as_they_are() -> None:
    assert quote_arguments(["-n", "cat", "/a/b.txt"]) == '"-n cat /a/b.txt"'
    assert quote_arguments([]) == '""'
    assert quote_environment({"A": "1", "B": "x:y"}) == '"A=1 B=x:y"'


# Hypothesis finds $(DOLLAR) in our own constants, the one text that is refused.
WORD = st.text(
    st.characters(blacklist_characters="\n\r\0", blacklist_categories=["Cs"])
).filter(lambda word: "$(DOLLAR)" not in word.upper())


@given(arguments=st.lists(WORD, max_size=5))
@example(
    arguments=[
        "$(HOME)",
        "$$(x)",
        "$$$(x)",
        "$ENV(HOME)",
        "$$(DOLLAR)",
        "$$(DOLLARDOLLAR)",
    ]
)
@example(
    arguments=["", " ", "'", '"', "''", '""', "\\", "#", "a b", "a'b", "x\ty", " # "]
)
@example(
    arguments=[
        "queue",
        "-x",
        "a=b",
        "@=",
        "$F(x)",
        "$INT(1)",
        "\u00a0",
        "\u2028",
        "\x85",
    ]
)
def test_any_argument_arrives(
    arguments: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = f"executable = x\narguments = {quote_arguments(arguments)}\nqueue\n"
    assert read(tmp_path_factory.mktemp("sub"), text).arguments == arguments


@given(
    environment=st.dictionaries(
        st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True), WORD, max_size=4
    )
)
@example(
    environment={
        "A": "$HOME; rm",
        "B": "it's",
        "C": '"',
        "D": "",
        "E": " ",
        "F": "$$(x)",
    }
)
def test_any_environment_arrives(
    environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = f"executable = x\nenvironment = {quote_environment(environment)}\nqueue\n"
    assert read(tmp_path_factory.mktemp("sub"), text).environment == environment


def test_harmless_arguments_cost_next_to_nothing() -> None:
    words = ["-n", "individuals", "-N", "ID0000001", "-R", "cori", "/a/b", "in.txt"] * 3
    assert calls(lambda: quote_arguments(words)) < 2 * len(words)

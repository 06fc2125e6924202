"""Submit files: Pegasus's are read, ours carry any argument there and back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pegasus_bb.core.errors import CatalogError, UsageError
from pegasus_bb.model.dag.htcondor_api import SubmitFile, read_submit
from pegasus_bb.model.dag.quoting import quote_arguments, quote_environment


def read(tmp_path: Path, text: str, **variables: str) -> SubmitFile:
    file = tmp_path / "job.sub"
    file.write_text(text, encoding="utf-8")
    return read_submit(file, variables)


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


@pytest.mark.parametrize("evil", ["a\nqueue 100", "a\0b", "a\rb"])
def test_a_newline_never_reaches_a_submit_file(evil: str) -> None:
    with pytest.raises(UsageError, match="newline or NUL"):
        quote_arguments(["fine", evil])
    with pytest.raises(UsageError, match="newline or NUL"):
        quote_environment({"A": evil})
    with pytest.raises(UsageError, match="name cannot stand"):
        quote_environment({f"A{evil}": "1"})


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

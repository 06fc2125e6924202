"""A page for people who learn has short sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.sentences import MOST, longest, pages, sentences, words


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_no_sentence_is_long(page: Path) -> None:
    sentence = longest(page)
    assert words(sentence) <= MOST, sentence


def test_sentences_are_found_in_text_lists_and_tables(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# Head\nOne two. Three\nfour [five](x.md).\n\n```sh\nnot this\n```\n"
        "* six\n* seven\n| eight nine | ten |\n"
    )
    found = list(sentences(page))
    assert found == [
        "# Head",
        "One two.",
        "Three four five.",
        "* six",
        "* seven",
        "eight nine",
        "ten",
    ]

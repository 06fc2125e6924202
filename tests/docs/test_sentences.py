"""A page for people who learn has short sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.sentences import MOST, longest, pages, words


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_no_sentence_is_long(page: Path) -> None:
    sentence = longest(page)
    assert words(sentence) <= MOST, sentence

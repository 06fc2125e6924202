"""One mistake in a good file: what the error says, and where it is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pegasus_bb.core.errors import USAGE, CatalogError


def check_mistake(
    read: Callable[[str], object], text: str, key: str, line: int, words: str
) -> None:
    """``read`` refuses ``text`` with ``words``, and names ``key`` and ``line``."""
    with pytest.raises(CatalogError, match=words) as caught:
        read(text)
    assert caught.value.exit_code == USAGE
    assert (caught.value.key, caught.value.line) == (key, line)

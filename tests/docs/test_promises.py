"""Each promise of docs/promises.md names a test that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.named_tests import is_a_test

PAGE = Path(__file__).parents[2] / "docs" / "promises.md"
PROMISES = re.findall(r"(?m)^- ((?:.+\n)(?:  .+\n)+)", PAGE.read_text())


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise[:38])
def test_a_promise_names_a_test_that_exists(promise: str) -> None:
    *_, file, name = promise.split()
    named = f"{file}::{name}".replace("`", "")
    assert is_a_test(named), named


def test_each_page_of_promises_has_a_part() -> None:
    for page in ("README", "lifecycle.md", "stager.md", "faults.md"):
        assert page in PAGE.read_text()

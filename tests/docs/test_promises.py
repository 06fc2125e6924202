"""Each promise of docs/promises.md names a test that exists."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.named_tests import is_a_test

PAGE = Path(__file__).parents[2] / "docs" / "promises.md"
PROMISES = re.findall(r"(?m)^- ((?:.+\n)(?:  .+\n)+)", PAGE.read_text())


def test_a_promise_names_a_test_that_exists() -> None:
    assert len(PROMISES) > 50
    named = ["::".join(p.replace("`", "").split()[-2:]) for p in PROMISES]
    gone = [name for name in named if not is_a_test(name)]
    assert not gone, f"let {PAGE.name} name tests that exist"


def test_each_page_of_promises_has_a_part() -> None:
    for page in ("README", "lifecycle.md", "stager.md", "faults.md"):
        assert page in PAGE.read_text()

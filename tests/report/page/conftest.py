from __future__ import annotations

import pytest

from pegasus_bb.report.report_document import Comparison
from tests.report.page.comparisons import a_benchmark, a_comparison


@pytest.fixture
def found() -> Comparison:
    return a_comparison(benchmark=a_benchmark())

"""Records of runs -> Run; compare; render."""

from pegasus_bb.report.benchmark import read_benchmark
from pegasus_bb.report.compare import compare
from pegasus_bb.report.document import Comparison
from pegasus_bb.report.encoding import to_document, write_document
from pegasus_bb.report.learn import history_of
from pegasus_bb.report.render import WIDTH, render_text
from pegasus_bb.report.submitdir import read_run

__all__ = [
    "WIDTH",
    "Comparison",
    "compare",
    "history_of",
    "read_benchmark",
    "read_run",
    "render_text",
    "to_document",
    "write_document",
]

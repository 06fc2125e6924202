"""The built-in planner: sharedfs on one site, laid out as pegasus-plan lays it out.

``build`` decides everything and writes nothing; ``write`` puts it on disk at once.
"""

from pegasus_bb.planner.builtin.build import build
from pegasus_bb.planner.builtin.checks import check_path_overlap
from pegasus_bb.planner.builtin.executable import Executable
from pegasus_bb.planner.builtin.write import check_files, write

__all__ = ["Executable", "build", "check_files", "check_path_overlap", "write"]

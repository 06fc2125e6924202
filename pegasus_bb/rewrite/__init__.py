"""Turn an abstract workflow and its catalogs into ones that use a burst buffer.

Passes start no process, read no clock and do no I/O: what they give is a function of
what they get.
"""

from pegasus_bb.rewrite.directives import directive_files
from pegasus_bb.rewrite.inputs import Inputs, Target
from pegasus_bb.rewrite.job_directives import (
    directives_of,
    directives_option,
    linked_sources,
)
from pegasus_bb.rewrite.lifecycle import links
from pegasus_bb.rewrite.passes import JOB_PASSES, WORKFLOW_PASSES, rewrite
from pegasus_bb.rewrite.transfers import properties_on_the_site

__all__ = [
    "JOB_PASSES",
    "WORKFLOW_PASSES",
    "Inputs",
    "Target",
    "directive_files",
    "directives_of",
    "directives_option",
    "linked_sources",
    "links",
    "properties_on_the_site",
    "rewrite",
]

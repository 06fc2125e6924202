"""All that is looked at, in the order in which a user would mend it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from pegasus_bb.check.finding import Finding, ok, wrong
from pegasus_bb.check.htcondor import of_htcondor
from pegasus_bb.check.inputs import of_files, of_size
from pegasus_bb.check.pegasus import of_pegasus
from pegasus_bb.check.storage import of_tier
from pegasus_bb.errors import PegasusBBError
from pegasus_bb.planner.choices import choose_tier, execution_site, output_site
from pegasus_bb.planner.deciding import Decided, Given, place, read_given
from pegasus_bb.planner.interpreter import tried_python, untried
from pegasus_bb.planner.options import PlanOptions


def findings(options: PlanOptions) -> Iterator[Finding]:
    """Looks at ``options``' workflow, catalogs and site. Writes nothing and asks for
    nothing but answers; what cannot be read is a finding as well."""
    try:
        given = read_given(options)
    except PegasusBBError as error:
        yield wrong("files", str(error))
        return
    yield ok("files", f"{given.workflow.path} and its catalogs can be read")
    placed: Decided | None = None
    try:
        placed = place(options, given)
        output_site(options, placed.catalogs)
    except PegasusBBError as error:
        yield wrong("workflow", str(error))
    else:
        yield from of_files(placed)
    capacity = 0
    if placed is not None and placed.placement is not None:
        size, capacity = of_size(placed)
        yield size
    yield from _of_site(options, given, capacity)


def _of_site(options: PlanOptions, given: Given, capacity: int) -> Iterator[Finding]:
    yield from _of_python(given)
    with suppress(PegasusBBError):  # said already, of the workflow
        site = execution_site(options, given.catalogs)
        style = (site.profile("pegasus", "style") or "condor").lower()
        yield from of_pegasus(given, site)
        yield from of_htcondor(style)
        tier = choose_tier(given.catalogs, given.settings, site.name)
        yield from of_tier(tier, capacity)


def _of_python(given: Given) -> Iterator[Finding]:
    python = given.settings.python
    try:
        tried_python(given.catalogs.properties, python)
    except PegasusBBError as error:
        yield wrong("python", str(error))
        return
    words = untried(python)
    where = python or "the system's own"
    yield ok("python", words[0] if words else f"of the jobs: {where}")

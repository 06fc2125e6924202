"""Refuses names, replicas and links that cannot be carried, or do not exist.

Lint rules refuse what a scheduler would silently misread, or what fails at run time.
Those of jobs are in lint_job_reservations.py, those of tiers in tier_choice.py. What
one key may be is checked where it is read, such as in model/tiers.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.core.paths import local_path
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.survey import INPUT, staged_name
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.placement import PlacedFile
from pegasus_bb.model.tiers import Tier
from pegasus_bb.model.workflow import Workflow

_OURS = (".pegasus_bb", ".jobs/")  # landing folders, marks, private folders
# URLs and submit files quote these in different ways.
_UNQUOTED = re.compile(r"""[\s"'`\\%$?#]""")
# A value on a #DW line ends at a blank, and Slurm interprets % and \.
_ON_A_LINE = re.compile(r"[A-Za-z0-9._/+=@,:~-]+")


def lint_names(given: PlanningInput, lfns: Mapping[str, object]) -> None:
    """Raises CatalogError for names that cannot be transferred to the buffer and
    back."""
    for lfn in lfns:
        if _UNQUOTED.search(lfn):
            what = (
                "an LFN with a blank, a quote or one of ` \\ % $ ? # cannot be carried "
                "through URLs and submit files"
            )
            raise _name_error(given, lfn, what)
        if f"{lfn}/".startswith(_OURS):
            begins = " or ".join(_OURS)
            what = f"in the scratch of a run names that begin with {begins} are ours"
            raise _name_error(given, lfn, what)
    lint_nested(given, lfns)


def lint_nested(given: PlanningInput, lfns: Mapping[str, object]) -> None:
    """Raises CatalogError for a file whose name is in that of another: a folder that is
    renamed to its place replaces what is there."""
    for lfn in lfns:
        above = next((p for p in _folders(lfn) if p in lfns), None)
        if above is not None:
            what = f"the file {above} would have to be a folder as well"
            raise _name_error(given, lfn, what)


def fits_on_directive_line(text: str) -> bool:
    """Whether every reader of #DW lines takes ``text`` literally."""
    return _ON_A_LINE.fullmatch(text) is not None


def _folders(lfn: str) -> Iterable[str]:
    place = lfn.find("/")
    while place > 0:
        yield lfn[:place]
        place = lfn.find("/", place + 1)


def _name_error(given: PlanningInput, lfn: str, what: str) -> CatalogError:
    use = given.workflow.first_use([lfn])
    if use is None:  # a staged program
        known = given.catalogs.transformations
        programs = known.transformations.items()
        name = next(name for name, each in programs if staged_name(each) == lfn)
        return known.error(name, what, repr(lfn), "rename the transformation")
    keys = [*use[1], "lfn"]
    return given.workflow.document.error(what, keys, repr(lfn), "rename the file")


def lint_replicas(
    workflow: Workflow, catalogs: Catalogs, files: Iterable[PlacedFile]
) -> None:
    """Raises CatalogError for an input that no job makes and that has no replica."""
    known = catalogs.replicas.replicas
    made = workflow.made_by_own_runs
    inputs = (file.lfn for file in files if file.role == INPUT)
    missing = dict.fromkeys(
        lfn for lfn in inputs if lfn not in made and not known.get(lfn)
    )
    use = workflow.first_use(missing)
    if use is not None:  # None for a staged program, which no job lists
        job, keys, _ = use
        raise workflow.document.error(
            f"job {job.id} ({job.transformation}) needs an input that no job makes and "
            "that has no replica",
            [*keys, "lfn"],
            ", ".join(missing),
            f"add it to {catalogs.replicas.document.path}, or name the folder that "
            "holds it with --input-dir",
        )


def lint_pfns(graph: Graph, catalogs: Catalogs) -> None:
    """Raises CatalogError for a replica, of an input, that is no place at all."""
    known = catalogs.replicas.replicas
    for lfn in graph.consumers:
        for replica in () if lfn in graph.producer else known.get(lfn, ()):
            pfn = replica.pfn
            if "://" not in pfn and local_path(pfn) is None:
                raise catalogs.replicas.error(
                    lfn,
                    f"the PFN of {lfn!r} is neither a URL nor an absolute path",
                    repr(pfn),
                    "/absolute/path or a URL",
                )


def lint_links(catalogs: Catalogs, tier: Tier, files: Iterable[PlacedFile]) -> None:
    """Raises CatalogError for a link without a target that the site's nodes can
    open."""
    for file in files:
        if file.how == "link" and catalogs.link_target(tier.site, file.lfn) is None:
            raise _link_error(catalogs, tier, file)


def _link_error(catalogs: Catalogs, tier: Tier, file: PlacedFile) -> CatalogError:
    known = catalogs.replicas.replicas.get(file.lfn, ())
    found = ", ".join(f"{replica.pfn} at {replica.site}" for replica in known)
    return catalogs.replicas.error(
        file.lfn,
        f"{file.lfn} should be a link to the PFS ({file.reason}), but it has no "
        f"replica with a path on site {tier.site}",
        found or "(no replica)",
        f"a replica with site: {tier.site} and an absolute path or file:// URL, or "
        f"bb.tier: {tier.name} for this file",
    )

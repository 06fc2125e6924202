"""What a run needs and this machine can see: inputs, programs, folders, free space.

`check` prints these findings among others; `plan` refuses what is wrong in them.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from pegasus_bb.core.errors import PegasusBBError, UsageError
from pegasus_bb.core.files import is_dir, is_file, is_there, missing_interpreter
from pegasus_bb.core.paths import local_path
from pegasus_bb.core.units import abbreviate, format_size
from pegasus_bb.decide.decision import PlacementDecision, PlanningInput
from pegasus_bb.decide.sizing import quota_of
from pegasus_bb.decide.survey import staged_executables
from pegasus_bb.model.catalogs import Catalogs, Replica, Site
from pegasus_bb.model.finding import Finding, Level, note, ok, wrong
from pegasus_bb.model.tiers import Tier
from pegasus_bb.model.transformations import Executable
from pegasus_bb.planner.options import PlanOptions

_ANYWAY = "or --no-check (property pegasus.bb.check = off) to plan all the same"


def check_local_files(
    options: PlanOptions, given: PlanningInput, decision: PlacementDecision | None
) -> list[str]:
    """Return what a plan says of programs and images that are not on this machine.
    Raises UsageError with every finding that a run would fail at."""
    programs = [*of_programs(given), *of_images(given)]
    if given.settings.check != "off":
        places = _of_places(options, given, decision)
        _refuse([*of_replicas(given), *programs, *places])
    return _shown(programs)


def notes_on_programs(given: PlanningInput) -> list[str]:
    """The same, and nothing is refused."""
    return _shown([*of_programs(given), *of_images(given)])


def _shown(programs: Iterable[Finding]) -> list[str]:
    return [
        f"{each.about}: {each.what}\n  fix:      {each.would_do}"
        for each in programs
        if each.level is Level.NOTE
    ]


def _refuse(findings: Iterable[Finding]) -> None:
    found = [each for each in findings if each.level is Level.WRONG]
    if found:
        lines = [f"{each.what}\n  fix:      {each.would_do}" for each in found]
        raise UsageError("\n".join([*lines, f"  {_ANYWAY}"]))


def _of_places(
    options: PlanOptions, given: PlanningInput, decision: PlacementDecision | None
) -> Iterator[Finding]:
    yield from of_output(options, given)
    yield from of_scratch(given.catalogs, given.site, is_watched=False)
    placement = decision.placement if decision else None
    if placement is not None and placement.tier.kind.is_one_folder:
        yield of_directory(given.catalogs, placement.tier, placement.capacity)


def of_replicas(given: PlanningInput) -> Iterator[Finding]:
    """Whether the inputs of this machine exist. Those of other sites are not sought."""
    catalog = given.catalogs.replicas
    graph = given.graph
    site = given.site.name
    gone = [
        lfn
        for lfn in graph.consumers
        if lfn not in graph.producer
        and lfn in catalog.replicas
        and not _is_anywhere(catalog.replicas[lfn])
    ]
    if gone:
        at = catalog.document.place(catalog.keys(gone[0]))
        yield wrong(
            "replicas",
            f"{at}: not where the catalog says: {abbreviate(gone)}",
            f"the path on this machine, or site: {site} for files that are only there",
        )
    closed = [
        lfn
        for lfn in graph.consumers
        if lfn in catalog.replicas and all(map(_is_closed, catalog.replicas[lfn]))
    ]
    if closed:
        at = catalog.document.place(catalog.keys(closed[0]))
        yield wrong(
            "replicas",
            f"{at}: you may not read {abbreviate(closed)}",
            "files that you may read",
        )
    if not gone and not closed:
        yield ok("replicas", "every input has a replica; those of this machine exist")


def of_programs(given: PlanningInput) -> Iterator[Finding]:
    """Whether programs that start on this machine are there. A program in a container
    is not looked at."""
    site = given.site.name
    catalog = given.catalogs.transformations
    known = _programs(given)
    gone = {name: p for name, p in known.items() if not _is_file_here(p.pfn)}
    closed = {n: p for n, p in known.items() if p.kind == "installed" and _shut(p.pfn)}

    def listed(why: str, names: Iterable[str]) -> str:
        first = next(iter(names))
        at = catalog.document.place(next(catalog.places(first, known[first].site)))
        return f"{at}: {why}: " + abbreviate([f"{n} ({known[n].pfn})" for n in names])

    if closed:
        path = shlex.quote(_path(next(iter(closed.values())).pfn))
        what = listed("no programs that you may run", closed)
        yield wrong("programs", what, f"chmod +x {path}")
    all_here = not has_htcondor()  # every job runs on this machine
    needed = [n for n, p in gone.items() if _is_mistaken(p)]
    mend = "the pfn in the transformation catalog"
    if needed:
        yield wrong("programs", listed("not on this machine", needed), mend)
    elif tools := {p.pfn for p in gone.values() if _is_of_pegasus(p.pfn)}:
        missing = abbreviate(sorted(tools))
        what = f"not on this machine, and a Pegasus brings it: {missing}"
        mend = "a Pegasus on this machine, or none if its jobs run elsewhere"
        yield note("programs", what, mend)
    elif staged := [n for n, p in gone.items() if p.site == "local"]:
        mend = f"install them before the run, whose stage-in brings them; or {mend}"
        yield note("programs", listed("not installed on this machine", staged), mend)
    elif gone:
        here = " (`pegasus-bb run` starts every job here)" if all_here else ""
        mend = f"none if site {site} is elsewhere and has them{here}; else {mend}"
        yield note("programs", listed("not on this machine", gone), mend)
    lost = {n: p for n, p in known.items() if all_here and _interpreter(p.pfn)}
    if lost:
        interpreter = _interpreter(next(iter(lost.values())).pfn)
        what = listed(f"its first line names {interpreter!r}, which is not here", lost)
        yield wrong("programs", what, "its first line, or the pfn")


def _programs(given: PlanningInput) -> dict[str, Executable]:
    """Transformation -> the program of its jobs on the site; none in a container."""
    site = given.site.name
    catalog = given.catalogs.transformations
    names = {j.transformation for j in given.workflow if j.runs_on(site)}
    programs = {name: catalog.executable(name, site) for name in sorted(names)}
    return {n: p for n, p in programs.items() if p is not None and not p.container}


def of_images(given: PlanningInput) -> Iterator[Finding]:
    """Whether images that are staged from this machine are there."""
    catalog = given.catalogs.transformations
    staged = staged_executables(given.workflow, catalog, given.site.name).values()
    images = [each for each in staged if not isinstance(each, Executable)]
    gone = [each.pfn for each in images if not _is_file_here(each.pfn)]
    if not gone:
        return
    mistaken = [pfn for pfn in gone if _is_misnamed(pfn)]
    at = catalog.document.place(["containers"])
    what = f"{at}: images not on this machine: {abbreviate(mistaken or gone)}"
    if mistaken:
        yield wrong("images", what, "the path on this machine")
    else:
        mend = "put them there before the run; or the path on this machine"
        yield note("images", what, mend)


def has_htcondor() -> bool:
    return shutil.which("condor_version") is not None


def of_output(options: PlanOptions, given: PlanningInput) -> Iterator[Finding]:
    """Where results go, as far as that is on this machine."""
    sites = given.catalogs.sites
    storage = [sites.site(name).storage for name in options.output_sites]
    of_sites = [Path(each.path) for each in storage if each]
    for folder in [options.output_dir] if options.output_dir else of_sites:
        path = options.absolute(folder)
        if file := _file_at(path):
            yield wrong("output", f"{file} is no folder", "another --output-dir")
        elif _is_shut(there := nearest_folder(path)):
            what = f"you may not write to {there}, where results go"
            yield wrong("output", what, "another --output-dir, or another mode of it")


def of_scratch(
    catalogs: Catalogs, site: Site, *, is_watched: bool
) -> Iterator[Finding]:
    """``is_watched``: this machine looks there for results of job reservations."""
    if site.scratch is None:  # planning names a folder
        return
    path = Path(site.scratch.path)

    def at() -> str:
        return catalogs.sites.document.place(["sites", site.index, "directories"])

    there = nearest_folder(path)
    if file := _file_at(path):
        yield wrong("scratch", f"{at()}: {file} is no folder", "another sharedScratch")
    elif there == path:
        yield ok("scratch", f"{path} is seen from here")
    elif not is_watched:
        return
    elif there == Path("/"):
        yield wrong(
            "scratch",
            f"{at()}: {path} is not seen from this machine, where every "
            "job's results have to be seen under that path before the next job starts",
            "a submit host that mounts it, or --bb-mode persistent",
        )
    else:
        yield note(
            "scratch", f"{path} is not there yet", f"is {there} the right place?"
        )


def of_directory(catalogs: Catalogs, tier: Tier, capacity: int) -> Finding:
    """Whether a folder with ``capacity`` bytes can be made on ``tier``."""
    entry = catalogs.tier_entry(tier)
    path = Path(tier.settings.get("path", ""))

    def refused(what: str, would_do: str) -> Finding:
        at = entry.document.place([*entry.at, "path"])
        return wrong("tier", f"{at}: tier {tier.name}: {what}", would_do)

    if file := _file_at(path):
        return refused(f"{file} is no folder", "a folder, as its path")
    there = nearest_folder(path)
    if not os.access(there, os.W_OK | os.X_OK):
        what = f"{path} cannot be made: you may not write to {there}"
        return refused(what, "a path of your own, or another mode of the folder")
    free = free_at(there)
    if capacity > free:
        have, want = format_size(free), format_size(capacity)
        by = f" by {format_size(capacity - free)}" if have == want else ""
        few = f"{there} has {have} free, less than {want}{by}"
        mend = "a path with more space, or a lower --bb-capacity"
        return refused(few, mend)
    if there != path:
        what = f"{path} is not there yet; {there} has {format_size(free)} free"
        return note("tier", what, f"is {there} the right place?")
    return ok("tier", f"{path}: {format_size(free)} free")


def of_submit_dir(folder: Path) -> Finding:
    there = nearest_folder(folder.parent)
    if os.access(there, os.W_OK | os.X_OK):
        return ok("submit", f"{folder} can be made")
    what = f"{folder} cannot be made: {there} is not yours to write"
    return wrong("submit", what, "another --dir")


def _is_closed(known: Replica) -> bool:
    """Whether it is a file of this machine that the user may not read."""
    path = _path(known.pfn) if known.site == "local" else ""
    wanted = os.R_OK | os.X_OK if path and is_dir(path) else os.R_OK
    return bool(path) and is_there(path) and not os.access(path, wanted)


def _is_anywhere(known: Iterable[Replica]) -> bool:
    return any(r.site != "local" or _is_here(r.pfn) for r in known)


def _is_shut(folder: Path) -> bool:
    """Whether its mode forbids to write there. A file system that takes no writes on
    this machine may take those of others, and what is in a folder at the top may be
    there on others alone."""
    if folder.parent == Path("/") or os.access(folder, os.W_OK | os.X_OK):
        return False
    return not os.statvfs(folder).f_flag & os.ST_RDONLY


def _is_here(pfn: str) -> bool:
    """True also for what this machine cannot look up."""
    path = _path(pfn)
    return not path or is_there(path)


def _is_file_here(pfn: str) -> bool:
    path = _path(pfn)
    return not path or is_file(path)


def _is_mistaken(program: Executable) -> bool:
    """Whether a missing program is one that no installation will bring."""
    if is_dir(_path(program.pfn)):
        return True
    is_here = program.site == "local" and not _is_of_pegasus(program.pfn)
    return is_here and _is_misnamed(program.pfn)


def _is_misnamed(pfn: str) -> bool:
    """Whether a missing file is not in a folder that is here. Where the folder is
    missing as well, something is not installed yet, and Pegasus plans such runs."""
    return is_dir(Path(_path(pfn)).parent)


def _is_of_pegasus(pfn: str) -> bool:
    """Whether an installation of Pegasus brings it; planning does without one."""
    return Path(_path(pfn)).name.startswith("pegasus-")


def _interpreter(pfn: str) -> str:
    """The interpreter of a script if it is missing; else empty."""
    return missing_interpreter(_path(pfn))


def _shut(pfn: str) -> bool:
    """Whether the file is here, and lacks the right to be run."""
    path = _path(pfn)
    return bool(path) and is_file(path) and not os.access(path, os.X_OK)


def _path(pfn: str) -> str:
    return local_path(pfn) or ""


def _file_at(path: Path) -> Path | None:
    """``path`` or what is above it, if that is there and no folder."""
    found = next((p for p in (path, *path.parents) if is_there(p)), Path("/"))
    return None if is_dir(found) else found


def free_at(path: Path) -> int:
    """Bytes that are free where ``path`` is or will be. Raises OSError."""
    found = os.statvfs(nearest_folder(path))
    return found.f_bavail * found.f_frsize


def nearest_folder(path: Path) -> Path:
    """``path``, or the last folder above it that is there."""
    return next((p for p in (path, *path.parents) if is_dir(p)), Path("/"))


def free_on(tier: Tier) -> int | None:
    """Bytes that no reservation has, no more than the quota; None where this machine
    cannot tell."""
    path = Path(tier.settings.get("path", "/"))
    if tier.kind.is_one_folder and not is_dir(path):  # the first run makes it
        seen: int | None = free_at(path)
    else:
        seen = _of_backend(tier)
    known = [size for size in (seen, quota_of(tier)) if size is not None]
    return min(known, default=None)


def _of_backend(tier: Tier) -> int | None:
    from pegasus_bb.runtime.backends.backend_table import open_backend  # few ask

    if not tier.is_reserved:
        return None
    try:
        pools = open_backend(tier.backend, tier.settings).pools()
    except (PegasusBBError, OSError, ValueError):  # no Slurm here, or no answer
        return None
    wanted = [p.free for p in pools if p.name == tier.pool] if tier.pool else []
    return next(iter([*wanted, *(p.free for p in pools)]), None)

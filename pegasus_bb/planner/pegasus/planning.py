"""Planning by the real pegasus-plan: rewrite, let it plan, complete what it wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.errors import PegasusBBError, UsageError
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.reservation import Request
from pegasus_bb.planner.choices import choose_tier, execution_site
from pegasus_bb.planner.deciding import (
    Decided,
    Given,
    decide,
    make_request,
    name_run,
    no_collection,
    plan_context,
    read_given,
)
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus.ahead import (
    Ahead,
    Unforeseen,
    reading,
    started_ahead,
)
from pegasus_bb.planner.pegasus.arguments import Call
from pegasus_bb.planner.pegasus.bbfiles import (
    as_json,
)
from pegasus_bb.planner.pegasus.call import plan_argv
from pegasus_bb.planner.pegasus.checks import (
    check_kickstart,
    check_passed,
    check_style,
    check_sub_workflows,
)
from pegasus_bb.planner.pegasus.completion import Completion
from pegasus_bb.planner.pegasus.folder import planned_folder
from pegasus_bb.planner.pegasus.home import Home
from pegasus_bb.planner.pegasus.inputs import files_for_pegasus, for_pegasus
from pegasus_bb.planner.pegasus.reading import Found, Reader
from pegasus_bb.planner.predicting import predict
from pegasus_bb.rewrite import Inputs, Plan, directive_files, rewrite
from pegasus_bb.runtime.install import install_runtime


@dataclass(frozen=True)
class PegasusPlanned:
    """A submit directory of pegasus-plan's that is sealed, and all it was made from: a
    process that ends with it need not take millions of objects apart."""

    submit_dir: Path
    decided: Decided
    inputs: Inputs  # what pegasus-plan read
    found: Found
    said: bytes  # what pegasus-plan printed
    notes: tuple[str, ...]

    @property
    def planner(self) -> str:
        """pegasus-plan and its version."""
        return f"pegasus-plan {self.found.outcome.version}"

    @property
    def summary(self) -> tuple[str, ...]:
        """Mode, tier, capacity, and where each was said."""
        return self.decided.summary()


def plan_on_tier(options: PlanOptions, call: Call, home: Home) -> PegasusPlanned:
    """Plan on a burst buffer, whole or not at all.

    Raises UsageError (a CatalogError says file, line and key; NotSealed which rule)
    and leaves nothing behind then.
    """
    with no_collection():
        try:
            with started_ahead(options, call, home) as ahead:
                return _plan(options, call, home, ahead)
        except Unforeseen:
            return _plan(options, call, home, None)


def _plan(
    options: PlanOptions, call: Call, home: Home, ahead: Ahead | None
) -> PegasusPlanned:
    given = read_given(options)
    if ahead is not None:
        _give_early(options, given, ahead)
    if given.settings.mode == "transient":
        raise UsageError(
            "--bb-mode transient is planned by the built-in planner alone in this "
            "version: --bb-planner builtin"
        )
    decided = decide(options, given)
    label = decided.workflow.name
    named = ahead.named(label) if ahead else name_run(options, label)
    context = plan_context(options, decided, named, predict(decided))
    request, placement = context.request, decided.placement
    assert request is not None  # noqa: S101 - mode off does not come here
    assert placement is not None  # noqa: S101
    check_style(decided.site, decided.catalogs, request.backend)
    check_passed(call.passed, context.site)
    notes = check_sub_workflows(decided, call.passed)
    folder = planned_folder(context.submit_dir)
    knows = Plan(context.site, placement, request, context.submit_dir)
    before = Inputs.of(given.workflow, given.catalogs)
    check_kickstart(before, context.site)
    inputs = _rewritten(before, knows)
    argv = plan_argv(home, named.directories, folder, call.passed)
    with reading(inputs, argv, named, options, ahead) as planner:
        _write_known(folder.parent, request, directive_files(knows))
        install_runtime(str(folder.parent), context.python)
        reader = Reader(context, request, decided.workflow)
        completion = Completion(decided, context, request, options.force)
        reader.begin(planner.has_ended)
        completion.prepare(reader.early)
        said = planner.printed()
        found = reader.found()
        completion.finish(found)
    return PegasusPlanned(
        context.submit_dir, decided, inputs, found, said, tuple(notes)
    )


def _give_early(options: PlanOptions, given: Given, ahead: Ahead) -> None:
    """Where files live is no part of what pegasus-plan reads."""
    try:
        site = execution_site(options, given.catalogs).name
        tier = choose_tier(given.catalogs, given.settings, site)
        undecided = Placement(tier, {}, need=0, unknown=(), capacity=0)
        request = make_request(undecided, given.settings, ahead.uuid)
        knows = Plan(site, undecided, request, ahead.submit_dir)
        inputs = _rewritten(Inputs.of(given.workflow, given.catalogs), knows)
        files = dict(files_for_pegasus(inputs))
    except (PegasusBBError, LookupError, TypeError, ValueError, AttributeError):
        return  # nobody has looked yet whether the workflow is one: deciding does
    ahead.give(inputs, files)


def _rewritten(given: Inputs, knows: Plan) -> Inputs:
    folder = planned_folder(knows.submit_dir)
    return for_pegasus(rewrite(given, knows), knows.site, folder)


def _write_known(bb: Path, request: Request, directives: Mapping[str, str]) -> None:
    """What of bb/ is known before."""
    (bb / "request.json").write_bytes(as_json(request.to_json()))
    for name, text in directives.items():
        (bb / name).write_text(text, encoding="utf-8")

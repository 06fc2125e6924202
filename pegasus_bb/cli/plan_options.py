"""Options that plan, explain and check share: pegasus-plan's own names, and ours."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.settings import SETTINGS, property_of
from pegasus_bb.planner.options import CLEANUPS, CLUSTERS, PlanOptions

_F = TypeVar("_F", bound=Callable[..., Any])

RANDOM = "--randomdir"  # alone, or with a value behind "=": click has no such option

# What pegasus-plan has and the built-in planner has not: option -> takes a value.
_REAL_ONLY = {
    ("--basename", "-b"): True,
    ("--cache", "-c"): True,
    ("--force-replan",): False,
    ("--forward", "-F"): True,
    ("--inherited-rc-files",): True,
    ("--job-prefix", "-j"): True,
    ("--output-map", "-m"): True,
    (RANDOM, "-r"): True,
    ("--rescue",): True,
    ("--reuse", "-R"): True,
    ("--deferred", "-z"): False,
    ("--nocleanup", "-n"): False,
    ("-X",): True,
}
_NOTED = "pegasus_bb.only_of_pegasus"


_ARGUMENT = click.argument("workflow", type=Path, default="workflow.yml")
_OPTIONS = (
    click.option("--conf", type=Path, help="Properties file."),
    click.option("-D", "defines", multiple=True, metavar="KEY=VALUE", help="Property."),
    click.option("-s", "--sites", default="", help="Execution sites."),
    click.option("-I", "--input-dir", default="", help="Folders with inputs."),
    click.option(
        "-t", "--transformations-dir", default="", help="Folders with programs."
    ),
    *(
        click.option(
            f"--bb-{name.replace('_', '-')}",
            metavar=row.shape,
            help=f"{row.text}  [{row.default}]" if row.default else row.text,
            multiple=row.several,
        )
        for name, row in SETTINGS.items()
    ),
    click.option(
        "-o",
        "--output-sites",
        "--output-site",
        default="",
        help="Sites for the results.",
    ),
    click.option(
        "--staging-site",
        default="",
        help="SITE, or EXECUTION=SITE: the reservation takes its place.",
    ),
    click.option(
        "-O", "--output-dir", type=Path, help="In place of the site's storage."
    ),
    click.option(
        "--dir",
        "base_dir",
        type=Path,
        default=".",
        help="Base of submit directories.  [.]",
    ),
    click.option(
        "--relative-dir", help="Submit and execution directory below the bases."
    ),
    click.option("--relative-submit-dir", help="Submit directory below --dir."),
    click.option(
        "--cleanup",
        default="inplace",
        metavar="|".join((*CLEANUPS, "constraint")),
        help="constraint needs a real pegasus-plan.  [inplace]",
    ),
    click.option(
        "-C",
        "--cluster",
        "clusters",
        default="",
        metavar="HOW,...",
        help=f"Join jobs: {', '.join(CLUSTERS)}.",
    ),
    click.option("-f", "--force", is_flag=True, help="Move an existing run aside."),
    click.option("-S", "--submit", is_flag=True, help="Run it at once."),
    click.option("-J", "--json", "as_json", is_flag=True, help="Print JSON."),
    click.option("-v", "--verbose", count=True, help="Print more."),
    click.option("-q", "--quiet", count=True, help="Print less."),
)


class PlanCommand(click.Command):
    """Takes pegasus-plan's command line, whose --randomdir may stand alone."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        spelt = [f"{RANDOM}=" if word in (RANDOM, "-r") else word for word in args]
        return super().parse_args(ctx, spelt)


def options_of_a_planning(command: _F) -> _F:
    """WORKFLOW and all that plan takes."""
    command = _ARGUMENT(command)
    for names, takes_value in _REAL_ONLY.items():
        shape: dict[str, Any] = {"multiple": True} if takes_value else {"is_flag": True}
        command = click.option(
            *names, hidden=True, expose_value=False, callback=_note, **shape
        )(command)
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def options_of_a_look(command: _F) -> _F:
    """The same, for a command that writes nothing: what only plan uses is hidden, and
    the mode is persistent where none is said."""
    command = options_of_a_planning(command)
    for param in command.__click_params__:  # type: ignore[attr-defined]
        if param.name == "bb_mode":
            param.help = f"{SETTINGS['mode'].text}  [persistent]"
        if param.name in ("force", "submit"):
            param.hidden = True
    return command


# What happens once it is planned.
_AFTERWARDS = {"as_json", "verbose", "quiet", "submit"}


def plan_options(options: dict[str, Any], mode: str = "") -> PlanOptions:
    """Typed ``options``; ``mode`` counts if no option or property names one."""
    options = {name: options[name] for name in options.keys() - _AFTERWARDS}
    given = {name: options.pop(f"bb_{name}") for name in SETTINGS}
    for name in (name for name, row in SETTINGS.items() if row.several):
        given[name] = ",".join(given[name]) or None
    ours = {property_of(name): text for name, text in given.items() if text is not None}
    for name in ("sites", "output_sites", "staging_site", "clusters"):
        options[name] = _listed(options[name])
    for name in ("input_dir", "transformations_dir"):
        options[name] = tuple(map(Path, _listed(options[name])))
    return PlanOptions(
        cwd=Path.cwd(),
        bb_options=ours,
        arguments=tuple(sys.argv[1:]),
        mode=mode,
        **options,
    )


@contextmanager
def all_obstacles(options: PlanOptions) -> Iterator[None]:
    """Raise a UsageError with all others that would come after it."""
    try:
        yield
    except UsageError as error:
        from pegasus_bb.planner.obstacles import with_all_obstacles  # few are refused

        raise with_all_obstacles(error, options) from error


def _listed(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _note(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    name = next((o for o in param.opts if o.startswith("--")), param.opts[0])
    noted: list[tuple[str, ...]] = ctx.meta.setdefault(_NOTED, [])
    if name == "-X":
        noted += [(name + text,) for text in value]
    elif name == RANDOM:
        noted += [(f"{name}={text}" if text else name,) for text in value]
    elif isinstance(value, tuple):
        noted += [(name, text) for text in value]
    elif value:
        noted.append((name,))


def only_of_pegasus(ctx: click.Context) -> list[tuple[str, ...]]:
    """The given options that only pegasus-plan has, each with its value."""
    noted: list[tuple[str, ...]] = ctx.meta.get(_NOTED, [])
    return noted


def options_of(argv: Sequence[str], cwd: Path) -> PlanOptions:
    """The options of a planning in ``cwd`` that was noted, or is made up."""

    @click.command("plan", cls=PlanCommand)
    @options_of_a_look
    def planning(**_: Any) -> None:
        """To be read, and not called."""

    with planning.make_context("plan", list(argv)) as context:
        return replace(plan_options(context.params), cwd=cwd)

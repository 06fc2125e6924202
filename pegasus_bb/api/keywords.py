"""The keyword arguments of ``plan`` and ``explain``: options of the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypedDict

from pegasus_bb.model.settings import SETTINGS, property_of
from pegasus_bb.planner.options import PlanOptions

FilePath = str | PathLike[str]
_NAMES = {"dir": "base_dir", "input_dirs": "input_dir", "cluster": "clusters"}
_PATHS = ("base_dir", "conf", "output_dir")
_LISTS = ("sites", "output_sites", "clusters")
ORIGIN = "an argument"  # where summaries say that a setting comes from


class Keywords(TypedDict, total=False):
    """Names are those of ``Workflow.plan()`` in Pegasus.api, and ``--bb-X`` as
    ``bb_X``. A list may be one string with commas."""

    conf: FilePath
    properties: Mapping[str, str]  # as -D
    sites: str | Sequence[str]
    output_sites: str | Sequence[str]
    staging_sites: Mapping[str, str]  # execution site -> staging site
    input_dirs: FilePath | Sequence[FilePath]
    transformations_dir: FilePath | Sequence[FilePath]
    output_dir: FilePath
    dir: FilePath
    relative_dir: str
    relative_submit_dir: str
    cleanup: str  # none | leaf | inplace
    cluster: str | Sequence[str]  # horizontal | label | whole | none
    force: bool
    check: bool  # False: as --no-check
    bb_mode: str  # off | persistent | transient | hybrid | auto
    bb_planner: str  # auto | builtin | pegasus
    bb_tiers: FilePath
    bb_tier: str
    bb_job_tier: str
    bb_capacity: str | int  # 700GiB, bytes, or auto
    bb_placement: FilePath
    bb_wait: str | int  # 2h, or seconds
    bb_poll: str | int
    bb_headroom: int  # per cent
    bb_share: int  # per cent
    bb_chains: str  # off | auto | on
    bb_chain_time: str | int
    bb_request_growth: float
    bb_name: str
    bb_python: str
    bb_node_cache: str
    bb_private: str
    bb_copy_below: str | int
    bb_check: str
    bb_counters: str
    bb_darshan: str
    bb_speeds: FilePath
    bb_history: FilePath | Sequence[FilePath]
    bb_fallback: str
    bb_guard: str
    bb_drain: str
    bb_drain_slack: int
    bb_evacuate_within: str | int
    bb_evacuate_every: str | int
    bb_keep_failed: str


def options_of(
    workflow: FilePath, keywords: Mapping[str, Any], mode: str = ""
) -> PlanOptions:
    """Turn keywords into options. ``mode`` counts if no keyword or property names one.
    Raises TypeError for a keyword that is unknown."""
    for name in keywords.keys() - Keywords.__annotations__.keys():
        raise TypeError(f"{name!r} is no keyword of plan and explain")
    given = {name: value for name, value in keywords.items() if value is not None}
    if not given.pop("check", True):
        given["bb_check"] = "off"
    settings = {name: given.pop(f"bb_{name}", None) for name in SETTINGS}
    bb_options = {
        property_of(n): _text(v) for n, v in settings.items() if v is not None
    }
    defines = given.pop("properties", {})
    staging = given.pop("staging_sites", {})
    given["staging_site"] = tuple(f"{site}={at}" for site, at in staging.items())
    renamed = {_NAMES.get(name, name): value for name, value in given.items()}
    return PlanOptions(
        workflow=Path(workflow),
        cwd=Path.cwd(),
        defines=tuple(f"{key}={value}" for key, value in defines.items()),
        bb_options=bb_options,
        origin=ORIGIN,
        mode=mode,
        **{name: _typed(name, value) for name, value in renamed.items()},
    )


def _typed(name: str, value: Any) -> Any:
    if name in _PATHS:
        return Path(value)
    if name in ("input_dir", "transformations_dir"):
        return tuple(map(Path, _listed(value)))
    return _listed(value) if name in _LISTS else value


def _text(value: Any) -> str:
    if isinstance(value, (int, float)):
        return str(value)
    return ",".join(_listed(value))


def _listed(value: FilePath | Sequence[FilePath]) -> tuple[str, ...]:
    if isinstance(value, (str, PathLike)):
        value = fspath(value).split(",")
    return tuple(word for word in (fspath(each).strip() for each in value) if word)

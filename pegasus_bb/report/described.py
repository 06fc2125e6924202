"""What a submit directory says of its run, beside records and logs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from pegasus_bb.model.run import Problem, Run
from pegasus_bb.report.elsewhere import elsewhere, rooms
from pegasus_bb.report.records import load_yaml

_LIMIT = 4 << 20  # bytes of braindump.yml or plan.json


def described(folder: Path) -> tuple[Run, Path, tuple[Problem, ...]]:
    """A Run with what braindump.yml and bb/plan.json say of it, and where the copy of
    its abstract workflow is."""
    problems: list[Problem] = []
    braindump = _mapping(folder / "braindump.yml", problems)
    plan = _mapping(folder / "bb" / "plan.json", problems)
    request = _mapping(folder / "bb" / "request.json", problems)
    away, unread = elsewhere(folder)
    single = _mapping(folder / "bb" / "transient.json", problems)
    run = Run(
        label=str(braindump.get("dax_label") or plan.get("label") or folder.name),
        mode=str(plan.get("mode") or ""),
        tier=str(plan.get("tier") or ""),
        backend=str((request or single).get("backend") or ""),
        fallback=_fallback(_mapping(folder / "bb" / "storage_decision.json", problems)),
        rooms=rooms(folder),
        elsewhere=away,
        submit_dir=str(folder),
        uuid=str(braindump.get("wf_uuid") or plan.get("uuid") or ""),
        predicted=_predicted(plan),
    )
    return run, _workflow(folder, braindump), (*problems, *unread)


def _workflow(folder: Path, braindump: Mapping[str, Any]) -> Path:
    """Under the name that its user gave it, or that our planner gives it."""
    copy = folder / Path(str(braindump.get("dax") or "")).name
    return copy if copy.is_file() else folder / "workflow.yml"


def _predicted(plan: Mapping[str, Any]) -> float | None:
    """What planning foresaw for the mode that was planned, where it knew enough."""
    try:
        predicted = plan["predicted"]
        if predicted["unknown_times"] or predicted["unknown_sizes"]:
            return None
        modes = {found["mode"]: found for found in predicted["modes"]}
        seconds = modes[plan["mode"]]["makespan"]
    except (KeyError, TypeError):
        return None
    return float(seconds) if isinstance(seconds, (int, float)) else None


def _fallback(settled: Mapping[str, Any]) -> str:
    """Why the run was on the PFS after all; empty where it was not."""
    if settled.get("to") != "pfs":
        return ""
    return str(settled.get("because") or "no reason was noted")


def _mapping(path: Path, problems: list[Problem]) -> Mapping[str, Any]:
    """The mapping in ``path``; empty where the file is not there."""
    try:
        with path.open("rb") as source:
            text = source.read(_LIMIT)
        data = orjson.loads(text) if path.suffix == ".json" else load_yaml(text)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        problems.append(Problem(str(path), str(error).splitlines()[0]))
        return {}
    return data if isinstance(data, dict) else {}

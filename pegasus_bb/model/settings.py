"""Properties, and the typed settings of those that begin with ``pegasus.bb.``. Options
become properties."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from pegasus_bb.core.errors import CatalogError, UsageError
from pegasus_bb.core.units import parse_duration, parse_size
from pegasus_bb.model.document import suggestion
from pegasus_bb.model.drain_policies import DrainRule, read_rule
from pegasus_bb.model.modes import MODES, OFF, RunMode

PREFIX = "pegasus.bb."
PLANNERS = ("auto", "builtin", "pegasus")
_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")
NONE = "none"  # of the history: no run, not even the last one
AUTO = 0  # a capacity from the sizes of the files, whatever the tier says


@dataclass(frozen=True)
class Setting:
    value: str
    origin: str  # a file name, or "-D"
    line: int = 0


class Properties(Mapping[str, str]):
    """Properties in the order in which they are set; later ones win."""

    def __init__(self, settings: Mapping[str, Setting]) -> None:
        self._settings = dict(settings)

    def __getitem__(self, key: str) -> str:
        return self._settings[key].value

    def __iter__(self) -> Iterator[str]:
        return iter(self._settings)

    def __len__(self) -> int:
        return len(self._settings)

    def with_values(self, values: Mapping[str, str], origin: str) -> Properties:
        added = {key: Setting(value, origin) for key, value in values.items()}
        return Properties({**self._settings, **added})

    def origin(self, key: str) -> str:
        """Where ``key`` is set, for a person; empty if it is not set."""
        setting = self._settings.get(key)
        if setting is None:
            return ""
        return f"{setting.origin}:{setting.line}" if setting.line else setting.origin

    def flag(self, key: str, *, default: bool) -> bool:
        """The truth of ``key``, in the words of Pegasus. Raises CatalogError."""
        text = self.get(key, "").strip().lower()
        if not text:
            return default
        if text in _TRUE or text in _FALSE:
            return text in _TRUE
        raise self.error(key, f"{key} is true or false", "true, or false")

    def error(self, key: str, what: str, would_do: str = "") -> CatalogError:
        """An error about the property ``key``, with the place where it is set."""
        setting = self._settings[key]
        return CatalogError(
            what,
            file=setting.origin,
            line=setting.line,
            key=key,
            found=setting.value,
            would_do=would_do,
        )

    def files(self) -> set[str]:
        """The files in which properties are set."""
        return {one.origin for one in self._settings.values() if one.line}

    def to_text(self) -> str:
        from javaproperties import join_key_value

        lines = (join_key_value(key, value) for key, value in self.items())
        return "".join(f"{line}\n" for line in lines)


def _choice(*allowed: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in allowed:
            close = get_close_matches(text, allowed, 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise UsageError(f"{text!r} is not one of {', '.join(allowed)}{hint}")
        return text

    return read


def _capacity(text: str) -> int:
    if text == "auto":
        return AUTO
    size = parse_size(text)
    if size <= 0:
        raise UsageError(f"{text!r}: a capacity above zero is needed, or auto")
    return size


def _between(lowest: int, highest: int, read: Callable[[str], int]) -> Any:
    def checked(text: str) -> int:
        value = read(text)
        if not lowest <= value <= highest:
            raise UsageError(f"{text!r} is not between {lowest} and {highest}")
        return value

    return checked


def _whole(text: str) -> int:
    if re.fullmatch("[+-]?[0-9]{1,18}", text) is None:
        raise UsageError(f"{text!r} is not a whole number")
    return int(text)


def _growth(text: str) -> float:
    if re.fullmatch(r"[0-9]{1,2}(\.[0-9]{1,3})?", text) is None or float(text) < 1:
        raise UsageError(f"{text!r} is no factor from 1 to 99, such as 1.5")
    return float(text)


def _name(text: str) -> str:
    if not (text.isascii() and text.isalnum() and text[0].isalpha() and len(text) < 21):
        raise UsageError(
            f"{text!r}: a reservation's name begins with a letter and has at most 20 "
            "letters and digits"
        )
    return text


class EarlierRun(NamedTuple):
    path: Path
    place: str  # pfs, or a tier: where it ran; empty if its own records say it


def _earlier_runs(text: str) -> tuple[EarlierRun, ...]:
    if text == NONE:
        return ()
    words = (word.strip() for word in text.split(","))
    return tuple(map(_earlier_run, filter(None, words)))


def _earlier_run(word: str) -> EarlierRun:
    place, equals, path = word.partition("=")
    if equals and "/" not in place:
        return EarlierRun(Path(path), place)
    return EarlierRun(Path(word), "")


def _program(text: str) -> str:
    if any(ord(c) < 32 for c in text):
        raise UsageError("a path with a control character")
    return text


class SettingRow(NamedTuple):
    """A setting for a person: what it takes, what it is for, what holds without it."""

    read: Callable[[str], Any]  # raises UsageError
    shape: str
    text: str
    default: str = ""
    several: bool = False  # the option may be given several times


def _setting(
    default: Any,
    read: Callable[[str], Any],
    shape: str,
    text: str,
    shown: str = "",
    *,
    several: bool = False,
) -> Any:
    return field(
        default=default,
        metadata={"row": SettingRow(read, shape, text, shown, several)},
    )


def _choice_setting(default: str, allowed: Sequence[str], text: str) -> Any:
    return _setting(default, _choice(*allowed), "|".join(allowed), text, default)


@dataclass(frozen=True)
class Settings:
    """The user's settings for burst buffers, apart from the tiers: the one table of
    them. The field ``x_y`` is the property ``pegasus.bb.x.y``, the option ``--bb-x-y``
    and the keyword ``bb_x_y``; its row has the words for a person."""

    mode: RunMode = _setting(
        OFF,
        lambda text: MODES[_choice(*MODES)(text)],
        "|".join(MODES),
        "; ".join(f"{each}: {each.text}" for each in MODES.values() if each is not OFF)
        + ".",
        OFF.name,
    )
    planner: str = _choice_setting(
        "auto", PLANNERS, "pegasus: a real pegasus-plan; auto: if found."
    )
    tiers: Path | None = _setting(
        None, Path, "FILE", "Tiers of the sites, in place of the site catalog's."
    )
    # Empty: the site's first.
    tier: str = _setting(
        "", str, "NAME", "The tier, if the site declares several.", "the first"
    )
    # Empty: the first node-local one, else ``tier``.
    job_tier: str = _setting(
        "", str, "NAME", "The tier of job reservations in mode hybrid."
    )
    # Bytes; AUTO; None: that of the tier.
    capacity: int | None = _setting(
        None, _capacity, "SIZE|auto", "How much to reserve, such as 700GiB."
    )
    placement: Path | None = _setting(
        None, Path, "FILE", "Patterns over LFNs that say where files live."
    )
    # Seconds, of the gate and of a job's results.
    wait: int = _setting(
        86400,
        _between(0, 366 * 86400, parse_duration),
        "TIME",
        "Longest wait for a reservation, or a job's results.",
        "1d",
    )
    poll: int = _setting(
        10,
        _between(1, 3600, parse_duration),
        "TIME",
        "Between two polls of the gate for the reservation.",
        "10s",
    )
    headroom: int = _setting(
        10,
        _between(0, 1000, _whole),
        "PERCENT",
        "Added to an automatic capacity.",
        "10",
    )
    share: int = _setting(
        50,
        _between(1, 100, _whole),
        "PERCENT",
        "Of the free tier: an automatic capacity, where sizes are not known.",
        "50",
    )
    chains: str = _choice_setting(
        "off",
        ("off", "auto", "on"),
        "Jobs that feed each other stay on one node (mode transient). on: also those "
        "that could run at the same time; auto: these where the forecast is shorter.",
    )
    # Seconds.
    chain_time: int = _setting(
        3600,
        _between(1, 366 * 86400, parse_duration),
        "TIME",
        "Longest run time of a chain, as far as run times are known.",
        "1h",
    )
    request_growth: float = _setting(
        1.5,
        _growth,
        "FACTOR",
        "How much more of its node's disk a job asks for at each further try.",
        "1.5",
    )
    name: str = _setting(
        "pbb", _name, "TEXT", "First letters of the reservation's name.", "pbb"
    )
    # Empty: the system's own.
    python: str = _setting(
        "", _program, "PATH", "The Python of the compute nodes.", "the system's"
    )
    node_cache: str = _choice_setting(
        "on",
        ("on", "off"),
        "off: nodes keep no copy of our code; each start reads bb/runtime.zip.",
    )
    private: str = _choice_setting(
        "tier",
        ("tier", "node"),
        "Where jobs have their private folders; node: on the disk of their node.",
    )
    # Bytes.
    copy_below: int = _setting(
        65536,
        parse_size,
        "SIZE",
        "Inputs up to this size are copied into a private folder, others are links.",
        "64KiB",
    )
    check: str = _choice_setting(
        "on",
        ("on", "off"),
        "off: plan without a look at inputs, programs and free space.",
    )
    counters: str = _choice_setting(
        "on",
        ("on", "off"),
        "off: a real pegasus-plan in mode off gets no option of ours.",
    )
    darshan: str = _setting(
        "off",
        _program,
        "auto|PATH|off",
        "The libdarshan.so that counts the tasks' calls.",
        "off",
    )
    speeds: Path | None = _setting(
        None, Path, "FILE", "Speeds of storage, in place of the site catalog's."
    )
    history: tuple[EarlierRun, ...] = _setting(
        (),
        _earlier_runs,
        "[PLACE=]PATH",
        "Submit directory (or records, or a Darshan log) of an earlier run, to learn "
        "from; several times: a run on the PFS and one on the tier. PLACE, pfs or a "
        "tier, says where it ran if its records do not; none: of no run.",
        "the last run, where an automatic capacity needs sizes",
        several=True,
    )
    fallback: str = _choice_setting(
        "fail",
        ("fail", "pfs"),
        "pfs: without a reservation the run continues on the PFS.",
    )
    guard: str = _choice_setting(
        "stat",
        ("stat", "digest"),
        "digest: read every result again before the release.",
    )
    # None: the tier's rule.
    drain: DrainRule | None = _setting(
        None,
        read_rule,
        "off|now|paced|RATE",
        "How results leave the tier; off: at the end; a rate is such as 32MiB/s.",
        "now",
    )
    drain_slack: int = _setting(
        0,
        _between(0, 1000, _whole),
        "PERCENT",
        "Of the run, by which paced results may come later.",
        "0",
    )

    # Seconds.
    evacuate_within: int = _setting(
        30,
        _between(1, 86400, parse_duration),
        "TIME",
        "From the signal that ends a job until it is killed: its checkpoints on a "
        "reservation of its own are saved by then.",
        "30s",
    )
    # Seconds; 0: not before the end.
    evacuate_every: int = _setting(
        60,
        _between(0, 366 * 86400, parse_duration),
        "TIME",
        "How often such checkpoints leave while their job runs; 0: only at its end.",
        "1m",
    )
    keep_failed: str = _choice_setting(
        "off",
        ("off", "on"),
        "on: what a failed job has in a folder of its own is kept in bb/failed.",
    )

    @property
    def keeps_failed(self) -> bool:
        return self.keep_failed == "on"

    @property
    def falls_back(self) -> bool:
        """Whether a run without its reservation continues on the PFS. Only mode
        persistent can do so, because one reservation serves all its jobs."""
        return self.fallback == "pfs" and self.mode.is_only_shared


SETTINGS: Mapping[str, SettingRow] = {
    each.name: each.metadata["row"] for each in fields(Settings)
}


def property_of(name: str) -> str:
    return PREFIX + name.replace("_", ".")


def read_settings(properties: Properties, cwd: Path) -> Settings:
    """Raises CatalogError: unknown property, value that cannot be read."""
    known = {property_of(name): name for name in SETTINGS}
    values: dict[str, Any] = {}
    for key in properties:
        if not key.startswith(PREFIX):
            continue
        if key not in known:
            names = sorted(each[len(PREFIX) :] for each in known)
            would_do = suggestion(key[len(PREFIX) :], names, PREFIX)
            raise properties.error(key, "there is no such setting", would_do)
        name = known[key]
        try:
            values[name] = SETTINGS[name].read(properties[key])
        except UsageError as error:
            raise properties.error(key, str(error)) from error
    for name in ("placement", "speeds", "tiers"):
        if values.get(name):
            values[name] = cwd / values[name]
    if "history" in values:
        runs = values["history"]
        values["history"] = tuple(run._replace(path=cwd / run.path) for run in runs)
    return Settings(**values)

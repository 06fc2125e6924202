"""A long workflow or catalog is read by two processes, half of it each.

Pegasus.api writes jobs, dependencies and replicas as lists at the edge of the page,
where nothing else begins a line with a dash. Where a text is not of that form, or where
its halves cannot be read one by one (an alias whose anchor is in the other half, a key
that comes twice), it is read whole, and whatever is wrong with it is found then.
"""

from __future__ import annotations

from typing import Any

from ryaml import loads as fast_loads  # type: ignore[attr-defined]

from pegasus_bb.beside import Beside

WORTH_A_PROCESS = 2_000_000  # characters; some 8,000 jobs
_LISTS = ("jobs", "jobDependencies", "replicas")


def loads(text: str) -> Any:
    """What ``text``, YAML, says. Raises as ryaml.loads."""
    if len(text) >= WORTH_A_PROCESS:
        cut = text.find("\n- ", len(text) // 2) + 1
        begins, key = max((text.rfind(f"\n{k}:\n- ", 0, cut), k) for k in _LISTS)
        whole = _in_halves(text, cut, key) if cut and begins >= 0 else None
        if whole is not None:
            return whole
    return fast_loads(text)


def _in_halves(text: str, cut: int, key: str) -> dict[str, Any] | None:
    """``text`` is cut between two entries of the list ``key``, as far as one can see.

    None where the halves do not tell what the whole says.
    """
    with Beside(lambda: _read(f"{key}:\n{text[cut:]}")) as other:
        above = _read(text[:cut])
        below = other.finish() if above else None
    # Nothing may stand between the list and the cut, nor a key on both sides.
    if not above or not below or next(reversed(above)) != key:
        return None
    entries, more = above[key], below.pop(key)
    if not isinstance(entries, list) or below.keys() & above.keys():
        return None
    entries.extend(more)
    return {**above, **below}


def _read(text: str) -> dict[str, Any] | None:
    try:
        data = fast_loads(text)
    except Exception:  # reading it whole will tell which
        return None
    return data if isinstance(data, dict) else None

"""``scontrol show bbstat WORDS``: a question about buffers.

The answer is one line of JSON; that to ``table`` is a text for a person."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Callable

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.units import format_size, parse_size
from pegasus_bb.runtime.stager_client.protocol import VERSION, Refused
from pegasus_bb.stager.messages import complain, message_of
from pegasus_bb.stager.nodes.node_staging import Nodes
from pegasus_bb.stager.slurm.buffers import Buffers
from pegasus_bb.stager.slurm.granted_space import Pools
from pegasus_bb.stager.slurm.hook_request import HookRequest
from pegasus_bb.stager.slurm.job_life import Jobs

_KEYS: dict[str, list[str]] = {
    "create": ["name", "capacity", "uuid", "pool"],
    "status": ["name"],
    "delete": ["name", "uuid"],
    "list": [],
    "table": [],
    "share": ["name", "user"],
    "unshare": ["name", "user"],
    "discard": ["job"],
}
_OPTIONAL = ("pool",)
_LONGEST_UUID = 100  # characters; that of a run has 36


class Questions:
    """Slurm has proved who asks: ``uid`` and ``gid`` of a request are the caller's."""

    def __init__(
        self,
        buffers: Buffers,
        jobs: Jobs,
        pools: Pools,
        nodes: Nodes,
        trouble: Callable[[], str],
    ) -> None:
        """``trouble``: why the service can write nothing now, if it cannot."""
        self._buffers, self._jobs, self._pools = buffers, jobs, pools
        self._nodes, self._trouble = nodes, trouble
        self._known: dict[str, Callable[[HookRequest, dict[str, str]], Any]] = {
            "create": self._create,
            "status": self._status,
            "delete": self._delete,
            "list": self._list,
            "share": self._share,
            "unshare": self._share,
            "discard": self._discard,
        }

    def answer(self, request: HookRequest) -> str:
        """Answer in any case, because scontrol waits: one line of JSON, ``ok`` or
        ``error``, or the table."""
        try:
            verb, given = _read(request.words)
            if verb == "table":
                return self._table()
            ok = self._known[verb](request, {"verb": verb, **given})
            return json.dumps({"v": VERSION, "ok": ok})
        except PegasusBBError as error:
            code = error.code if isinstance(error, Refused) else "bad-request"
            return _error(code, str(error))
        except OSError as error:
            return _error("not-now", message_of(error))
        except Exception as error:
            complain(f"{request.token}: {error!r}")
            return _error("bug", f"a fault of the staging service: {error!r}")

    def _create(self, request: HookRequest, given: dict[str, str]) -> Any:
        size = parse_size(given["capacity"])
        pool = given.get("pool", "")
        if len(given["uuid"]) > _LONGEST_UUID:
            raise Refused(
                "bad-request", f"a uuid has at most {_LONGEST_UUID} characters"
            )
        wanted = (given["name"], size, given["uuid"], pool)
        return {"buffer": self._buffers.create(request.uid, request.gid, *wanted)}

    def _status(self, request: HookRequest, given: dict[str, str]) -> Any:
        return {"buffer": self._buffers.shown(given["name"])}

    def _delete(self, request: HookRequest, given: dict[str, str]) -> Any:
        uuid = given.get("uuid", "")
        return {"buffer": self._buffers.delete(request.uid, given["name"], uuid)}

    def _list(self, request: HookRequest, _: dict[str, str]) -> Any:
        return {
            "buffers": self._buffers.as_json(),
            "pools": self._pools.as_json(),
            "kept": self._jobs.kept.as_json(request.uid),
            "nodes": self._nodes.as_json(),
            "trouble": self._trouble(),
        }

    def _table(self) -> str:
        """Write each pool and each persistent buffer of any user as a row."""
        pools = [("pool", "total", "free", "each user at most")]
        for pool in self._pools.as_json():
            sizes = (pool["total"], pool["free"], pool["per_user"])
            pools.append((pool["name"], *map(format_size, sizes)))
        buffers = [("buffer", "user", "pool", "size", "state")]
        for row in self._buffers.as_json():
            size = format_size(row["size"])
            buffers.append((row["name"], row["user"], row["pool"], size, row["state"]))
        lines = [*_aligned(pools), "", *_aligned(buffers)]
        trouble = self._trouble()
        if trouble:
            lines += ["", f"trouble: {trouble}"]
        return "".join(f"{line}\n" for line in lines)

    def _share(self, request: HookRequest, given: dict[str, str]) -> Any:
        allowed = given["verb"] == "share"
        name = given["name"]
        user = given["user"]
        return {"buffer": self._buffers.share(request.uid, name, user, allowed)}

    def _discard(self, request: HookRequest, given: dict[str, str]) -> Any:
        if not re.fullmatch("[0-9]{1,18}", given["job"]):
            raise Refused("bad-request", f"job={given['job']} is no job's number")
        return {"discarded": self._jobs.kept.discard(request.uid, int(given["job"]))}


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows)]
    cells = ([text.ljust(n) for text, n in zip(row, widths)] for row in rows)
    return ["  ".join(row).rstrip() for row in cells]


def _error(code: str, message: str) -> str:
    return json.dumps({"v": VERSION, "error": {"code": code, "message": message}})


def _read(words: list[str]) -> Any:
    """The verb and its key=value words. Raises Refused."""
    verb = words[0] if words else ""
    if verb not in _KEYS:
        known = ", ".join(_KEYS)
        raise Refused("bad-request", f"{verb!r} is none of {known}")
    given: dict[str, str] = {}
    for word in words[1:]:
        key, sign, value = word.partition("=")
        if not sign or key not in _KEYS[verb] or key in given:
            raise Refused("bad-request", f"{word!r}: {_usage(verb)}")
        given[key] = value
    optional = (*_OPTIONAL, "uuid") if verb == "delete" else _OPTIONAL
    if any(not given.get(k) for k in _KEYS[verb] if k not in optional):
        raise Refused("bad-request", _usage(verb))
    return verb, given


def _usage(verb: str) -> str:
    keys = " ".join(f"{key}=..." for key in _KEYS[verb])
    return f"write: scontrol show bbstat {verb} {keys}".rstrip()

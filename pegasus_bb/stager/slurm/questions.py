"""``scontrol show bbstat WORDS``: a question about buffers.

The answer is one line of JSON; that to ``table`` is a text for a person."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Callable

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.units import format_size, parse_size
from pegasus_bb.runtime.stager_client.protocol import VERSION, Refused
from pegasus_bb.stager.messages import complain, message_of
from pegasus_bb.stager.nodes.node_staging import Nodes
from pegasus_bb.stager.slurm.buffers import Buffers
from pegasus_bb.stager.slurm.granted_space import Pools
from pegasus_bb.stager.slurm.job_life import Jobs
from pegasus_bb.stager.slurm.spool import HookRequest

_KEYS: dict[str, tuple[str, ...]] = {  # of each verb; those with a ? may be missing
    "create": ("name", "capacity", "uuid", "pool?"),
    "status": ("name",),
    "delete": ("name", "uuid?"),
    "list": (),
    "table": (),
    "share": ("name", "user"),
    "unshare": ("name", "user"),
    "discard": ("job",),
}
_LONGEST_UUID = 100  # characters; that of a run has 36


@dataclass(frozen=True)
class Questions:
    """Slurm has proved who asks: ``uid`` and ``gid`` of a request are the caller's."""

    buffers: Buffers
    jobs: Jobs
    pools: Pools
    nodes: Nodes
    trouble: Callable[[], str]  # why the service can write nothing now, if it cannot

    def answer(self, request: HookRequest) -> str:
        """Answer in any case, because scontrol waits: one line of JSON, ``ok`` or
        ``error``, or the table."""
        try:
            verb, given = _read(request.words)
            if verb == "table":
                return self._table()
            ok = getattr(self, f"_{verb}")(request, **given)
            return json.dumps({"v": VERSION, "ok": ok})
        except PegasusBBError as error:
            code = error.code if isinstance(error, Refused) else "bad-request"
            return _error(code, str(error))
        except OSError as error:
            return _error("not-now", message_of(error))
        except Exception as error:
            complain(f"{request.token}: {error!r}")
            return _error("bug", f"a fault of the staging service: {error!r}")

    def _create(
        self, request: HookRequest, name: str, capacity: str, uuid: str, pool: str = ""
    ) -> Any:
        size = parse_size(capacity)
        if len(uuid) > _LONGEST_UUID:
            why = f"a uuid has at most {_LONGEST_UUID} characters"
            raise Refused("bad-request", why)
        wanted = (request.uid, request.gid, name, size, uuid, pool)
        return {"buffer": vars(self.buffers.create(*wanted))}

    def _status(self, _: HookRequest, name: str) -> Any:
        return {"buffer": self.buffers.shown(name)}

    def _delete(self, request: HookRequest, name: str, uuid: str = "") -> Any:
        buffer = self.buffers.delete(request.uid, name, uuid)
        return {"buffer": buffer and vars(buffer)}

    def _share(self, request: HookRequest, name: str, user: str) -> Any:
        allowed = request.words[0] == "share"
        share = self.buffers.share
        return {"buffer": vars(share(request.uid, name, user, allowed=allowed))}

    _unshare = _share

    def _discard(self, request: HookRequest, job: str) -> Any:
        if not re.fullmatch("[0-9]{1,18}", job):
            raise Refused("bad-request", f"job={job} is no job's number")
        return {"discarded": self.jobs.kept.discard(request.uid, int(job))}

    def _list(self, request: HookRequest) -> Any:
        return {
            "buffers": self.buffers.as_json(),
            "pools": self.pools.as_json(),
            "kept": self.jobs.kept.as_json(request.uid),
            "nodes": self.nodes.as_json(),
            "trouble": self.trouble(),
        }

    def _table(self) -> str:
        """Write each pool and each persistent buffer of any user as a row."""
        pools = [("pool", "total", "free", "each user at most")]
        for pool in self.pools.as_json():
            sizes = (pool["total"], pool["free"], pool["per_user"])
            pools.append((pool["name"], *map(format_size, sizes)))
        buffers = [("buffer", "user", "pool", "size", "state")]
        for row in self.buffers.as_json():
            size = format_size(row["size"])
            buffers.append((row["name"], row["user"], row["pool"], size, row["state"]))
        lines = [*_aligned(pools), "", *_aligned(buffers)]
        trouble = self.trouble()
        if trouble:
            lines += ["", f"trouble: {trouble}"]
        return "".join(f"{line}\n" for line in lines)


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows)]
    cells = ([text.ljust(n) for text, n in zip(row, widths)] for row in rows)
    return ["  ".join(row).rstrip() for row in cells]


def _error(code: str, message: str) -> str:
    return json.dumps({"v": VERSION, "error": {"code": code, "message": message}})


def _read(words: list[str]) -> tuple[str, dict[str, str]]:
    """Return the verb and its key=value words. Raises Refused."""
    verb = words[0] if words else ""
    if verb not in _KEYS:
        raise Refused("bad-request", f"{verb!r} is none of {', '.join(_KEYS)}")
    keys = [key.rstrip("?") for key in _KEYS[verb]]
    shown = " ".join(f"{key}=..." for key in keys)
    usage = f"write: scontrol show bbstat {verb} {shown}".rstrip()
    given: dict[str, str] = {}
    for word in words[1:]:
        key, sign, value = word.partition("=")
        if not sign or key not in keys or key in given:
            raise Refused("bad-request", f"{word!r}: {usage}")
        given[key] = value
    if not all(given.get(key) or key[-1] == "?" for key in _KEYS[verb]):
        raise Refused("bad-request", usage)
    return verb, given

"""The functions of dw_wlm_cli: each takes the place and a call, and gives its answer.

What Slurm reads in the answers: `created`, the JSON of the show functions, and
"No matching session", which ends its work with a job that is gone already.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

from pegasus_bb.core.errors import ReservationFailed
from pegasus_bb_testbed.datawarp import folders
from pegasus_bb_testbed.datawarp.accounts import Accounts, Session, open_accounts
from pegasus_bb_testbed.datawarp.arguments import Call
from pegasus_bb_testbed.datawarp.directives import Directive, directives, read_script
from pegasus_bb_testbed.datawarp.place import Place
from pegasus_bb_testbed.datawarp.staging import stage


def pools(place: Place, call: Call) -> str:
    with open_accounts(place) as accounts:
        found = [
            {
                "id": pool.name,
                "units": "bytes",
                "granularity": pool.granularity,
                "quantity": pool.quantity,
                "free": accounts.free(pool),
            }
            for pool in place.pools()
        ]
    return json.dumps({"pools": found})


def show_instances(place: Place, call: Call) -> str:
    with open_accounts(place) as accounts:
        found = [
            {
                "id": instance.id,
                "capacity": {"bytes": instance.bytes, "nodes": 1},
                "links": {"session": instance.session},
            }
            for instance in accounts.instances
        ]
    return json.dumps({"instances": found})


def show_sessions(place: Place, call: Call) -> str:
    with open_accounts(place) as accounts:
        found = [
            {"id": s.id, "created": s.created, "owner": s.owner, "token": s.token}
            for s in accounts.sessions
        ]
    return json.dumps({"sessions": found})


def show_configurations(place: Place, call: Call) -> str:
    return json.dumps({"configurations": []})


def job_process(place: Place, call: Call) -> str:
    directives(read_script(call["job"]))
    return ""


def create_persistent(place: Place, call: Call) -> str:
    """Again after a killed answer is fine; the name of another is not."""
    if call["token"].isdigit():
        raise ReservationFailed(f"token {call['token']} is taken: numbers are jobs'")
    name, size = call.capacity()
    pool = place.pool(name)
    with open_accounts(place) as accounts:
        found = accounts.find(call["token"])
        if found is None:
            session = _session(accounts, call, persistent=True)
            _grant(place, accounts, session, name, max(size, 1))
        elif found.owner != call.number("user"):
            raise ReservationFailed(f"token {found.token} already exists")
        else:
            held = accounts.instance(found)
            if held is None or not size <= held.bytes < size + pool.granularity:
                raise ReservationFailed(f"token {found.token} exists in another size")
    return "created"


def setup(place: Place, call: Call) -> str:
    """A session for a job, and its space where it asks for any (0 is usual)."""
    name, size = call.capacity()
    place.pool(name)
    wanted = _directives(call)
    with open_accounts(place) as accounts:
        session = accounts.find(call["token"])
        if session is None:
            session = _session(accounts, call, persistent=False)
        elif session.persistent or session.owner != call.number("user"):
            raise ReservationFailed(f"token {session.token} already exists")
        _buffers(
            place, accounts, [d for d in wanted if d.word == "persistentdw"], session
        )
        if size and accounts.instance(session) is None:
            _grant(place, accounts, session, name, size)
    return ""


def data_in(place: Place, call: Call) -> str:
    _stage(place, call, "stage_in")
    return ""


def data_out(place: Place, call: Call) -> str:
    _stage(place, call, "stage_out")
    return ""


def real_size(place: Place, call: Call) -> str:
    with open_accounts(place) as accounts:
        instance = accounts.instance(accounts.session(call["token"]))
        size = instance.bytes if instance else 0
    return json.dumps({"capacity": size, "units": "bytes"})


def paths(place: Place, call: Call) -> str:
    """KEY=VALUE lines for the job's environment; the mounts come with pre_run."""
    wanted = _directives(call)
    with open_accounts(place) as accounts:
        found = _mounts(place, accounts, wanted, accounts.session(call["token"]))
    mounts = place.mounts()
    lines = [f"{variable}={mounts / name}\n" for variable, name, _ in found]
    # Slurm makes no folder for most tasks of an array, and reads the file all the same.
    Path(call["pathfile"]).parent.mkdir(mode=0o700, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(call["pathfile"], flags, 0o600), "w") as out:
        out.writelines(lines)
    return ""


def pre_run(place: Place, call: Call) -> str:
    wanted = _directives(call)
    with open_accounts(place) as accounts:
        session = accounts.session(call["token"])
        found = _mounts(place, accounts, wanted, session)
        session.mounts = [name for _, name, _ in found]
        for _, name, target in found:
            folders.mount(place, name, target)
    return ""


def post_run(place: Place, call: Call) -> str:
    with open_accounts(place) as accounts:
        session = accounts.session(call["token"])
        for name in session.mounts:
            folders.unmount(place, name)
        session.mounts = []
    return ""


def teardown(place: Place, call: Call) -> str:
    """The end of a job's session, or of a persistent buffer: data are gone."""
    with open_accounts(place) as accounts:
        accounts.forget(accounts.session(call["token"]))
    with open_accounts(place) as accounts:
        folders.sweep(place, accounts)
    folders.empty_trash(place)
    return ""


FUNCTIONS: dict[str, Callable[[Place, Call], str]] = {
    function.__name__: function
    for function in (
        pools, show_instances, show_sessions, show_configurations, job_process, setup,
        data_in, real_size, paths, pre_run, post_run, data_out, teardown,
        create_persistent,
    )
}  # fmt: skip
READS = ("pools", "show_instances", "show_sessions", "show_configurations")


def _directives(call: Call) -> list[Directive]:
    """Of the job's script. Slurm 24.11 keeps one script for a whole array, and names
    for most of its tasks one that is not there: such a task gets what space it asks
    for, striped, and nothing is staged.
    """
    try:
        return directives(read_script(call["job"]))
    except FileNotFoundError:
        return [Directive("jobdw", {})]


def _session(accounts: Accounts, call: Call, *, persistent: bool) -> Session:
    session = Session(
        id=accounts.number(),
        token=call["token"],
        owner=call.number("user"),
        group=call.number("group") or call.number("user"),
        created=int(time.time()),
        persistent=persistent,
    )
    accounts.sessions.append(session)
    return session


def _grant(
    place: Place, accounts: Accounts, session: Session, pool: str, size: int
) -> None:
    """Space and its folder; the accounts are written last: clear the way first."""
    folders.sweep(place, accounts)
    instance = accounts.grant(session, place.pool(pool), size)
    folders.make(place, instance, session)


def _mounts(
    place: Place, accounts: Accounts, wanted: list[Directive], session: Session
) -> list[tuple[str, str, Path]]:
    """Variable, name below the mount folder, folder of the buffer."""
    found: list[tuple[str, str, Path]] = []
    own = accounts.instance(session)
    for directive in wanted:
        if directive.word == "jobdw":
            if own is None:
                continue  # Slurm asked for none, or not yet
            for access in directive.accesses():
                name = f"{session.token}_{access}_scratch"
                target = folders.folder(place, own, access)
                found.append((f"DW_JOB_{access.upper()}", name, target))
        elif directive.word == "persistentdw":
            token = directive.values["name"]
            target = _persistent(place, accounts, token)
            name = f"{token}_{session.token}_striped_scratch"
            found.append((f"DW_PERSISTENT_STRIPED_{token}", name, target))
    return found


def _persistent(place: Place, accounts: Accounts, token: str) -> Path:
    session = accounts.find(token)
    held = accounts.instance(session) if session and session.persistent else None
    if held is None:
        raise ReservationFailed(f"no persistent instance {token}")
    return folders.folder(place, held)


def _buffers(
    place: Place, accounts: Accounts, wanted: list[Directive], session: Session
) -> dict[str, Path]:
    return {v: target for v, _, target in _mounts(place, accounts, wanted, session)}


def _stage(place: Place, call: Call, word: str) -> None:
    """Copies take their time, so the accounts are closed before them."""
    wanted = _directives(call)
    with open_accounts(place) as accounts:
        session = accounts.session(call["token"])
        buffers = _buffers(place, accounts, wanted, session)
    stage(wanted, word, buffers, session)

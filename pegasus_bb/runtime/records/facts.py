"""What a record says about the machine, the user and files."""

from __future__ import annotations

import grp
import os
import pwd
import resource
import time
from typing import Any, Dict, Mapping, Tuple

from pegasus_bb.runtime.procio import read_small
from pegasus_bb.runtime.records.yaml import Verbatim

Facts = Dict[Any, Any]

_names: Dict[Tuple[str, int], str] = {}
# The batch systems that Kickstart knows by what they put into a job's environment.
_BATCH = (
    ("slurm", "SLURM_JOB_ID"),
    ("pbs", "PBS_JOBID"),
    ("lsf", "LSB_JOBID"),
    ("cobalt", "COBALT_JOBID"),
    ("sge", "JOB_ID"),
)


def instant(seconds: float, digits: int = 3) -> Verbatim:
    """A time as Kickstart writes it, in UTC."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    part = f"{seconds % 1:.6f}"[1 : 2 + digits] if digits else ""
    return Verbatim(f"{whole}{part}+00:00")


def user(uid: int) -> str:
    """The name of ``uid``, or the number where it has none."""
    if ("u", uid) not in _names:
        try:
            _names["u", uid] = pwd.getpwuid(uid).pw_name
        except KeyError:
            _names["u", uid] = str(uid)
    return _names["u", uid]


def group(gid: int) -> str:
    """The name of ``gid``, or the number where it has none."""
    if ("g", gid) not in _names:
        try:
            _names["g", gid] = grp.getgrgid(gid).gr_name
        except KeyError:
            _names["g", gid] = str(gid)
    return _names["g", gid]


def stat_facts(found: os.stat_result) -> Facts:
    """A file's stat in Kickstart's words."""
    return {
        "mode": Verbatim(f"0o{found.st_mode:o}"),
        "size": found.st_size,
        "inode": found.st_ino,
        "nlink": found.st_nlink,
        "blksize": found.st_blksize,
        "blocks": found.st_blocks,
        "mtime": instant(found.st_mtime, 0),
        "atime": instant(found.st_atime, 0),
        "ctime": instant(found.st_ctime, 0),
        "uid": found.st_uid,
        "user": user(found.st_uid),
        "gid": found.st_gid,
        "group": group(found.st_gid),
    }


def file_facts(path: str) -> Facts:
    """A file under its real name; ``error`` holds the errno where it is not there."""
    facts: Facts = {"file_name": os.path.realpath(path)}
    try:
        facts.update(stat_facts(os.stat(path)))
    except OSError as error:
        facts = {"error": error.errno, **facts}
    return facts


def usage_facts(usage: Any) -> Facts:
    """A getrusage() in Kickstart's words; seconds, KiB, blocks of 512 bytes."""
    facts: Facts = {"utime": usage.ru_utime, "stime": usage.ru_stime}
    for name in ("maxrss", "minflt", "majflt", "nswap", "inblock"):
        facts[name] = getattr(usage, "ru_" + name)
    for name, key in (("outblock", "ru_oublock"), ("msgsnd", "ru_msgsnd")):
        facts[name] = getattr(usage, key)
    for name in ("msgrcv", "nsignals", "nvcsw", "nivcsw"):
        facts[name] = getattr(usage, "ru_" + name)
    return facts


def own_usage() -> Facts:
    """What the recorder itself used."""
    return usage_facts(resource.getrusage(resource.RUSAGE_SELF))


def host_facts() -> Facts:
    """Name, interface and address; the address of the first interface that has one."""
    return {
        "hostname": os.uname().nodename,
        "interface": _interface(),
        "hostaddr": _address(),
    }


def _interface() -> str:
    for line in read_small("/proc/net/route").decode("ascii", "replace").splitlines():
        words = line.split()
        if len(words) > 1 and words[1] == "00000000":
            return words[0]
    return "lo"


def _address() -> str:
    """From the kernel's own table: asking for the name could wait for a name server."""
    candidate = ""
    for line in (
        read_small("/proc/net/fib_trie").decode("ascii", "replace").splitlines()
    ):
        words = line.split()
        if words[:1] == ["|--"]:
            candidate = words[1]
        elif "/32 host LOCAL" in line and not candidate.startswith("127."):
            return candidate
    return "127.0.0.1"


def owner_facts() -> Facts:
    """Who runs this."""
    mask = os.umask(0o022)
    os.umask(mask)
    return {
        "pid": os.getpid(),
        "uid": os.getuid(),
        "user": user(os.getuid()),
        "gid": os.getgid(),
        "group": group(os.getgid()),
        "umask": Verbatim(f"0o{mask:04o}"),
    }


def job_ids(environ: Mapping[str, str]) -> Facts:
    """The ids that batch systems gave this job."""
    facts: Facts = {}
    if environ.get("CONDOR_JOBID"):
        facts["condor"] = environ["CONDOR_JOBID"]
    for lrm, name in _BATCH:
        if environ.get(name):
            facts["lrmtype"], facts["lrm"] = lrm, environ[name]
            break
    return facts


def machine_facts() -> Facts:
    """The machine. Kickstart's census of all processes is left out: it takes time."""
    name = os.uname()
    facts: Facts = {
        "page-size": os.sysconf("SC_PAGE_SIZE"),
        "uname_system": name.sysname.lower(),
        "uname_nodename": name.nodename,
        "uname_release": name.release,
        "uname_machine": name.machine,
    }
    memory = _columns("/proc/meminfo")
    for key, column in (
        ("ram_total", "MemTotal"),
        ("ram_free", "MemFree"),
        ("ram_shared", "Shmem"),
        ("ram_buffer", "Buffers"),
        ("swap_total", "SwapTotal"),
        ("swap_free", "SwapFree"),
    ):
        facts[key] = int((memory.get(column) or "0").split()[0])
    processor = _columns("/proc/cpuinfo")
    facts["cpu_count"] = os.cpu_count()
    facts["cpu_speed"] = round(float(processor.get("cpu MHz") or 0))
    facts["cpu_vendor"] = processor.get("vendor_id", "unknown")
    facts["cpu_model"] = processor.get("model name", "unknown")
    for minutes, load in zip((1, 5, 15), os.getloadavg()):
        facts[f"load_min{minutes}"] = Verbatim(f"{load:.2f}")
    return facts


def limit_facts() -> Facts:
    """The resource limits that a failed task met."""
    facts: Facts = {}
    for name in sorted(n for n in dir(resource) if n.startswith("RLIMIT_")):
        for kind, limit in zip(("soft", "hard"), _limit(name)):
            facts[f"{name}_{kind}"] = limit
    return facts


def _limit(name: str) -> Tuple[Any, ...]:
    unlimited = Verbatim("unlimited")
    found = resource.getrlimit(getattr(resource, name))
    return tuple(unlimited if n == resource.RLIM_INFINITY else n for n in found)


def _columns(path: str) -> Dict[str, str]:
    """``name: value`` lines; the first of a name counts."""
    found: Dict[str, str] = {}
    for line in read_small(path).decode("utf-8", "replace").splitlines():
        name, _, value = line.partition(":")
        found.setdefault(name.strip(), value.strip())
    return found

"""HTCondor's blahp, which submits to Slurm and asks it: quick, patient and mended."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from pegasus_bb.run.check import software

_ATTRIBUTES = "slurm_local_submit_attributes.sh"  # real sites, too
_CONF = "etc/slurm/blahp.conf"
_CONFIG = f"""\
export SLURM_CONF=/{_CONF}
export ALL_CPUS=$(taskset -cp 0-1023 $$)
"""
_PROGRAM = "usr/local/bin/blahpd"  # condor.conf.j2 names it
_ON_ONE_CPU = """\
#!/bin/sh
exec taskset -c 0 /usr/bin/blahpd "$@"
"""
_FRESH = "cache_timeout = 0; os.sched_setaffinity(0, range(os.cpu_count()))"


def mend(script: Path) -> None:
    """Its status script calls what Python 3.12 took away: every job would stay idle."""
    text = script.read_text()
    script.write_text(text.replace("self.readfp(", "self.read_file("))


def configure(root: Path, slurm_conf: str) -> None:
    """``slurm_conf``: for its sbatch, which waits longer than people would. On a busy
    machine slurmctld takes a job after sbatch has given up, and HTCondor then holds it
    for ever."""
    _let_it_pass_arguments(root / "etc/blahp")
    _quicken(root / "usr/libexec/blahp/slurm_status.py")
    (root / _CONF).write_text(slurm_conf)
    config = root / "etc/blah.config"
    said = config.read_text()
    if _CONFIG not in said:
        config.write_text(said + _CONFIG)
    _keep_its_threads_apart(root / _PROGRAM)


def _let_it_pass_arguments(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(
        Path(software.__file__).with_name(_ATTRIBUTES), folder / _ATTRIBUTES
    )


def _quicken(script: Path) -> None:
    """It believes for a minute what squeue said: every job would seem to take one."""
    text = script.read_text()
    script.write_text(re.sub(r"(?m)^cache_timeout = .*$", _FRESH, text))


def _keep_its_threads_apart(program: Path) -> None:
    """It names the requirements of a job after the microsecond. Two threads on two CPUs
    take the same one now and then, and both jobs get the directives of one of them.
    What it starts has all CPUs again."""
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(_ON_ONE_CPU)
    program.chmod(0o755)

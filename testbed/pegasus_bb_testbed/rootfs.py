"""The root file system: a Debian with Slurm, and HTCondor where it has one; built once.

It is built beside and renamed when whole, so a half-built one is never entered. Where
another site on this machine has the same packages, its own is copied.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pegasus_bb.core.errors import PegasusBBError, UsageError
from pegasus_bb.core.files import read_json, write_json
from pegasus_bb.core.process import ask, start
from pegasus_bb_testbed import blahp
from pegasus_bb_testbed.home import Home
from pegasus_bb_testbed.namespace import holder_of, mounted_below

_BOUNDED = ("timeout", "--foreground", "1200")  # seconds, on a slow network
_NO_DAEMONS = "#!/bin/sh\nexit 101\n"  # invoke-rc.d: start nothing at installation
_CARRIED = ("Acquire::http", "Acquire::https", "Acquire::Check", "Acquire::Retries")


def is_whole(home: Home) -> bool:
    """Whether there is a root file system, built to the end from today's recipe."""
    try:
        return home.root.is_dir() and bool(
            read_json(str(home.recipe)) == home.flavour.recipe()
        )
    except (OSError, ValueError):
        return False


def twin_of(home: Home) -> Home | None:
    """A first site with the same packages that is built and down, with any plugin."""
    for plugin in ("datawarp", "lua"):
        twin = Home(replace(home.flavour, plugin=plugin, number=1), home.above)
        if twin.folder != home.folder and is_whole(twin) and holder_of(twin) is None:
            return twin
    return None


def build(home: Home, say: Callable[[str], None]) -> None:
    """Make it afresh. Raises UsageError with the end of the log."""
    for old in (home.root, home.part):
        remove(old)
    home.recipe.unlink(missing_ok=True)
    home.log.write_text("")
    if not _copy_twin(home, say):
        _install(home, say)
    home.part.rename(home.root)
    write_json(str(home.recipe), home.flavour.recipe())


def _copy_twin(home: Home, say: Callable[[str], None]) -> bool:
    """Whether there was one to copy. What it keeps in files, `up` writes anew."""
    twin = twin_of(home)
    if twin is None:
        return False
    with twin.locked():
        if twin_of(home) is None:
            return False  # it came up meanwhile
        say(f"copying {twin.root}")
        _run(home, ["cp", "-a", "--reflink=auto", str(twin.root), str(home.part)])
    return True


def _install(home: Home, say: Callable[[str], None]) -> None:
    say(f"building {home.root}: some minutes, once; log in {home.log}")
    suite = home.flavour.suite
    packages = home.flavour.packages
    words = ["debootstrap", "--variant=minbase", suite, str(home.part), *_mirror()]
    _run(home, words)
    say(f"installing {', '.join(packages)}")
    _prepare(home.part)
    apt = ["chroot", str(home.part), "/usr/bin/env", "DEBIAN_FRONTEND=noninteractive"]
    _run(home, [*apt, "apt-get", "update"])
    _run(home, [*apt, "apt-get", "install", "-y", "--no-install-recommends", *packages])
    _run(home, [*apt, "apt-get", "clean"])
    if home.flavour.htcondor:
        blahp.mend(home.part / "usr/libexec/blahp/blah.py")


def remove(root: Path) -> None:
    """Raises UsageError where something is mounted below: never delete through that."""
    if not root.exists():
        return
    found = mounted_below(root)
    if found:
        raise UsageError(f"{found[0]} is mounted below {root}: unmount it first")
    shutil.rmtree(root)


def _run(home: Home, argv: list[str]) -> None:
    """In namespaces of its own, so that no mount of debootstrap's is left behind."""
    inside = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    environ = {key: os.environ[key] for key in os.environ if key != "LC_ALL"}
    with home.log.open("ab") as log:
        output = log.fileno()
        process = start(
            [*_BOUNDED, *inside, "--", *argv],
            env={**environ, "LC_ALL": "C"},
            stdout=output,
            stderr=output,
        )
        status = process.wait()
    if status != 0:
        said = home.log.read_text(errors="replace").splitlines()[-5:]
        raise PegasusBBError(
            f"{' '.join(argv[:2])} failed with {status}; the end of {home.log}:"
            + "".join(f"\n  {line}" for line in said)
        )


def _mirror() -> list[str]:
    """The host's own mirror where the host is a Debian, else debootstrap's default."""
    columns = ["Created-By: Packages", "Origin: Debian", "Label: Debian"]
    words = ["apt-get", "indextargets", "--format", "$(REPO_URI)", *columns]
    found = ask(words).out.split()
    return found[:1]


def _prepare(root: Path) -> None:
    """What apt needs: the host's way to the mirror, and no daemon at installation."""
    listed = ask(["apt-config", "dump", "--no-empty", "--format", '%f "%v";%n']).out
    carried = [line for line in listed.splitlines() if line.startswith(_CARRIED)]
    (root / "etc/apt/apt.conf.d/90host").write_text("\n".join([*carried, ""]))
    policy = root / "usr/sbin/policy-rc.d"
    policy.write_text(_NO_DAEMONS)
    policy.chmod(0o755)
    resolv = Path("/etc/resolv.conf")
    if resolv.exists():
        shutil.copyfile(resolv, root / "etc/resolv.conf")

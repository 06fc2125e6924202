"""A guest of QEMU on Debian's own packages, with a zoned NVMe disk.

Its kernel, xfsprogs and QEMU itself come from one root file system, built as those of
a testbed. The processor is emulated, so that each machine sees the same.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
from pathlib import Path
from typing import Any

from pegasus_bb_testbed import rootfs
from pegasus_bb_testbed.home import Flavour, Home

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.process import ask
from testbed.tests.shared_testbed import what_is_missing

MIB = 1 << 20
DISK = 1024 * MIB
ZONE = 4 * MIB
OPEN_ZONES = 14  # at a time, as those of a ZN540 of Western Digital
_PATIENCE = 5400.0  # seconds for all rounds, on a machine that does other things too
_SOURCES = Path(__file__).parents[2] / "pegasus_bb"


class _Guest(Flavour):
    """Not a site, but built as one. Debian 13 has an xfsprogs that knows no zones."""

    @property
    def packages(self) -> tuple[str, ...]:
        host = ("qemu-system-x86", "e2fsprogs")
        return (*host, "linux-image-cloud-amd64", "xfsprogs", "python3")

    @property
    def name(self) -> str:
        return "zoned-guest"


def home() -> Home:
    return Home(_Guest(slurm="", suite="testing", htcondor=False))


def why_not(home: Home) -> str:
    """Why no guest can run here; empty where one can. Builds what it boots from."""
    if platform.machine() != "x86_64":
        return f"the guest's kernel is for x86_64; this is {platform.machine()}"
    if shutil.which("mke2fs") is None:
        return "mke2fs is missing: install e2fsprogs"
    missing = what_is_missing(home)
    if missing or rootfs.is_whole(home):
        return missing
    try:
        rootfs.build(home, print)
    except PegasusBBError as error:
        return f"Debian's packages cannot be had: {error}"
    return ""


def run(home: Home, plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Boot, do ``plan`` (inside.py), and give back what it found in each round.

    Raises PegasusBBError where the guest fails, with its own words.
    """
    disks = home.root / "vm"
    shutil.rmtree(disks, ignore_errors=True)  # of a run that was killed
    image = _root_disk(home, plan)
    disks.mkdir()
    try:
        image.rename(disks / "root")
        for name, size in (("meta", 512 * MIB), ("zoned", DISK)):
            (disks / name).touch()
            os.truncate(disks / name, size)
        said = ask(_words(home.root), timeout=_PATIENCE)
        return _read(disks, len(plan["rounds"]), said.err)
    finally:
        shutil.rmtree(disks)


def _root_disk(home: Home, plan: dict[str, Any]) -> Path:
    """An image of the root file system, with our programs in it."""
    ours = home.root / "nightly"
    shutil.rmtree(ours, ignore_errors=True)
    shutil.copytree(_SOURCES, ours / "pegasus_bb")
    shutil.copy(Path(__file__).with_name("inside.py"), ours)
    (ours / "inside.py").chmod(0o755)
    (ours / "plan.json").write_text(json.dumps(plan))
    image = home.folder / "root.img"
    image.unlink(missing_ok=True)
    words = ["mke2fs", "-q", "-t", "ext4", "-d", str(home.root), str(image), "2G"]
    done = ask(words, timeout=600.0)
    if done.status != 0:
        raise PegasusBBError(f"no disk for the guest: {done.err}")
    return image


def _words(root: Path) -> list[str]:
    """Of QEMU. Three disks: the guest's root, the zones, and an ordinary one, on which
    XFS keeps its metadata."""
    [kernel], [initrd] = root.glob("boot/vmlinuz-*"), root.glob("boot/initrd.img-*")
    zones = f"zoned=true,zoned.zone_size={ZONE}"
    limits = f"zoned.max_open={OPEN_ZONES},zoned.max_active={OPEN_ZONES}"
    blocks = "logical_block_size=4096,physical_block_size=4096"
    disk = "format=raw,cache=unsafe,file=/vm/"
    return [
        "unshare",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "--",
        "chroot",
        str(root),
        "qemu-system-x86_64",
        "-accel",
        "tcg,thread=multi",
        "-smp",
        "2",
        "-m",
        "3G",
        "-nodefaults",
        "-display",
        "none",
        "-no-reboot",
        "-kernel",
        f"/boot/{kernel.name}",
        "-initrd",
        f"/boot/{initrd.name}",
        "-append",
        "root=/dev/vda rw init=/nightly/inside.py console=ttyS0 panic=-1",
        "-serial",
        "file:/vm/console",
        "-serial",
        "file:/vm/results",
        "-drive",
        f"{disk}root,if=virtio",
        "-drive",
        f"{disk}meta,if=virtio",
        "-drive",
        f"{disk}zoned,if=none,id=zoned",
        "-device",
        "nvme,serial=zoned",
        "-device",
        f"nvme-ns,drive=zoned,{blocks},{zones},{limits}",
    ]


def _read(disks: Path, rounds: int, said: str) -> list[dict[str, Any]]:
    lines = _text(disks / "results").splitlines()
    found = [json.loads(line) for line in lines if line.startswith("{")]
    failed = [each["failed"] for each in found if "failed" in each]
    if failed or len(found) < rounds:
        console = "\n".join(_text(disks / "console").splitlines()[-20:])
        told = "".join(failed) or said or "it ended early"
        raise PegasusBBError(f"the guest: {told}\nits console ends with:\n{console}")
    return found


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""

"""A site's service that is not root's: its capabilities end where a worker begins."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pegasus_bb.core.units import MIB
from pegasus_bb.stager import capabilities
from pegasus_bb.stager.capabilities import NEEDED
from tests.stager.lives import CAPABLE, capable, needs_setpriv, python_for_all, user
from tests.stager.test_users import ANN, Site, site
from tests.support.stager import SiteDaemon, until_moved

__all__ = ["site"]
pytestmark = needs_setpriv


@pytest.fixture
def life() -> str:
    return CAPABLE


def status_of(pid: int) -> dict[str, list[str]]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {line.split(":")[0]: line.split()[1:] for line in lines}


@pytest.mark.parametrize(
    ("of_service", "bits"), [(True, []), (False, ["--securebits", "+no_setuid_fixup"])]
)
def test_a_worker_has_no_capability(
    site: Site, tmp_path: Path, of_service: bool, bits: list[str]
) -> None:
    """Also where SecureBits= of the unit keep the kernel from taking them."""
    if bits:
        site.kill(15)
        site.before = ["setpriv", *bits, *site.before]
        site.serve()
    uid = user() if of_service else ANN
    for space in ("lustre", "bb"):
        folder = tmp_path / space / str(uid)
        folder.mkdir(exist_ok=True)
        os.chown(folder, uid, uid)
    source = tmp_path / f"lustre/{uid}/large"
    source.write_bytes(bytes(8 * MIB))
    os.chown(source, uid, uid)
    places = {"source": f"lustre://{uid}/large", "dest": f"bb://{uid}/large"}
    [number] = site.submit(uid, {"kind": "copy", **places, "rate": MIB})
    with site.control() as control:
        until_moved(control, number)
    [worker] = map(status_of, site.workers())
    assert worker["Uid"] == [str(uid)] * 4
    assert worker["Groups"] in ([], [str(uid)])
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(worker[name][0], 16) == 0, name


def test_a_worker_that_keeps_a_capability_does_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(capabilities, "held", lambda *sets: 1)
    with pytest.raises(PermissionError):
        capabilities.check_powerless()


@pytest.mark.parametrize("missing", [["CAP_KILL"], list(NEEDED)])
def test_without_one_of_its_capabilities_it_is_refused(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, missing: list[str]
) -> None:
    site = SiteDaemon(tmp_path, lustre=tmp_path / "lustre")
    site.before = capable(*missing)
    python = python_for_all(tmp_path_factory.mktemp("open"))
    site.program = [*python, "-m", "pegasus_bb.stager"]
    assert site.refusal() == (
        f"stager: user {user()} cannot serve a site: it lacks the ambient capabilities "
        f"{' '.join(missing)}; start the service as root, or write User= and "
        f"AmbientCapabilities={' '.join(NEEDED)} into its unit\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["stager.json"]

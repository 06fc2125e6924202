"""Mode hybrid: a job finds what all share, and others find what it makes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pegasus_bb.report.run_notes import jobs_on_pfs
from pegasus_bb.runtime.backends.backend_table import open_backend
from pegasus_bb.runtime.bind import Binding
from pegasus_bb.runtime.job_reservation import open_reservation
from pegasus_bb.runtime.job_reservation.planned import job_reservation, own_request
from pegasus_bb.runtime.programs import await_stage_out
from tests.support.hybrid_site import BELOW, PREFIX, HybridSite
from tests.support.job_reservation_site import JOB, NODE

from .test_job_reservation import refused

MAKE = (
    "cat in.txt > out.txt; cat pfs-in.txt > sub/more.txt; echo x > pfs-out.txt; "
    "echo all > shared.txt"
)


@pytest.fixture
def site(tmp_path: Path) -> HybridSite:
    return HybridSite(tmp_path, "datawarp")


@pytest.fixture
def directory(tmp_path: Path) -> HybridSite:
    return HybridSite(tmp_path, "directory")


def launch(
    site: HybridSite, script: str, *argv: str, **environ: str
) -> subprocess.CompletedProcess[bytes]:
    script = f"cd {PREFIX}/{BELOW} && {{ {script}; }}"
    return site.launch(script, *argv, **{**site.mounts, **environ})


def test_others_find_it_where_they_find_all_files(site: HybridSite) -> None:
    assert launch(site, MAKE).returncode == 0
    assert site.note["files"].keys() == {"out.txt", "sub/more.txt"}
    assert not (site.scratch / "out.txt").exists()  # it is not checked yet
    assert not (site.shared / "shared.txt").is_symlink()
    site.stage_out()
    await_stage_out.poll(site.bbdir, NODE, JOB)
    assert (site.shared / "out.txt").is_symlink()
    assert (site.text("out.txt"), site.text("sub/more.txt")) == (
        "input\n",
        "on the PFS\n",
    )
    assert site.text("pfs-out.txt") == "x\n"
    assert (site.scratch / "pfs-out.txt").is_file()


def test_a_later_try_replaces_what_an_older_one_has_shared(site: HybridSite) -> None:
    assert launch(site, MAKE).returncode == 0
    again = MAKE.replace("all", "again")
    assert launch(site, again, CONDOR_JOBID="8.0").returncode == 0
    assert site.text("shared.txt") == "again\n"


def test_a_failed_task_shares_nothing(site: HybridSite) -> None:
    assert launch(site, f"{MAKE}; exit 3").returncode == 3
    assert not (site.shared / "shared.txt").exists()
    assert site.note["files"] == {}


def test_what_it_does_not_share_though_it_should_fails_it_by_name(
    site: HybridSite,
) -> None:
    done = launch(site, MAKE.replace("shared.txt", "other.txt"))
    assert done.returncode == 1
    assert b"shared.txt: the task ended well, but has not made" in done.stderr


def test_what_all_share_is_not_the_task_s_to_replace(site: HybridSite) -> None:
    replace = "echo mine > t; mv t in.txt"
    assert launch(site, f"{MAKE}; {replace}").returncode == 0
    assert site.text("in.txt") == "input\n"


def test_without_the_shared_reservation_it_does_not_start(site: HybridSite) -> None:
    site.base.rename(site.root / "gone")
    refused(site, **site.mounts)
    assert site.note["status"] != 0


class TestAFullTier:
    @pytest.fixture
    def full(
        self, directory: HybridSite, monkeypatch: pytest.MonkeyPatch, ledger: Path
    ) -> HybridSite:
        monkeypatch.setattr(open_reservation, "PATIENCE", 0.0)
        for request in (directory.bbdir.transient(), directory.bbdir.request()):
            name = "request" if request.prefix == PREFIX else "transient"
            settings = {**request.settings, "quota": "4MiB"}
            small = request._replace(settings=settings)
            directory.write(f"{name}.json", small.to_json())
        return directory

    def test_the_job_works_on_the_pfs_then(
        self, full: HybridSite, capsys: pytest.CaptureFixture[str]
    ) -> None:
        environ = {"PEGASUS_DAG_JOB_ID": NODE, "CONDOR_JOBID": JOB}
        bb = full.bbdir
        own = job_reservation(bb, bb.node_of_job(environ), environ)
        with open_reservation.open_space(bb, bb.transient(), own, environ) as space:
            assert space.run.startswith(str(full.scratch))
            assert space.since == 0
            assert full.own_reservations() == []
        assert full.ledger == ["requested", "released"]
        backend = open_backend("directory", bb.transient().settings)
        wanted = own_request(bb.transient(), own)
        assert backend.status(wanted).state.value == "absent"
        said = capsys.readouterr().err
        assert "this job works on the PFS" in said
        assert "pegasus.bb.wait" not in said, "longer patience would change nothing"
        ((away,), _) = jobs_on_pfs(full.bb.parent)
        assert away.node == NODE
        assert "no room of 4.0 MiB for this job within 0.0 s" in away.because
        assert not Path(space.run).parent.exists()


def test_the_inner_folder_is_bound_before_what_is_around_it() -> None:
    outer = Binding("/bb/pbbX", "/mnt/x")
    inner = Binding("/bb/pbbX/u/run", "/mnt/own/run", outer)
    text = "/bb/pbbX/u/run/f /bb/pbbX/u/runner /bb/pbbX/g /mnt/own/run/f"
    assert inner.text(text) == "/mnt/own/run/f /mnt/x/u/runner /mnt/x/g /mnt/own/run/f"
    assert inner.line(text.encode()) == inner.text(text).encode()
    assert inner.argv(["-I/bb/pbbX/u/run"]) == ["-I/mnt/own/run"]

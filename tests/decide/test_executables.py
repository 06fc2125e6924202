"""Programs that are staged need space as well, and are never links."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.user_files import User


def program(name: str, site: str, pfn: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "sites": [{"name": site, "pfn": pfn, "type": kind}], **more}


@pytest.fixture
def staged(user: User) -> User:
    (user.folder / "work.py").write_bytes(b"x" * 50)
    pfn = f"{user.folder}/work.py"
    user.transformations = [program("work", "local", pfn, "stageable")]
    return user


@pytest.mark.parametrize("inputs", ["stage", "link"])
def test_a_staged_program_is_a_copy_with_its_size_on_disk(
    staged: User, inputs: str
) -> None:
    here = [{"site": "cluster", "pfn": "/lus/x"}]
    staged.tier = {"inputs": inputs}
    staged.replicas = {"in.txt": here, "ref.txt": here}
    placed = staged.placed("work")
    assert (placed.role, placed.tier, placed.how) == ("input", "bb", "copy")
    assert placed.size == 50
    assert "a program that is staged" in placed.reason


def test_what_a_program_requires_is_staged_with_it(staged: User) -> None:
    staged.transformations[0]["requires"] = ["lib::helper:1.0"]
    pfn = f"{staged.folder}/work.py"
    full = {"namespace": "lib", "version": "1.0"}
    staged.transformations.append(program("helper", "local", pfn, "stageable", **full))
    assert staged.placed("lib-helper-1.0").size == 50


def test_a_program_may_be_placed_by_name_but_not_as_a_link(staged: User) -> None:
    staged.placement = "work: pfs\n"
    assert staged.placed("work").tier == "pfs"
    staged.placement = "work: link\n"
    staged.is_refused("always a copy, never a link")


@pytest.fixture
def imaged(staged: User) -> User:
    """Jobs run in an image of 70 bytes, which is on the submit host."""
    (staged.folder / "box.sif").write_bytes(b"i" * 70)
    box = {"name": "box", "type": "singularity", "image.site": "local"}
    staged.containers = [{**box, "image": f"{staged.folder}/box.sif"}]
    staged.transformations[0]["sites"][0]["container"] = "box"
    return staged


def test_a_staged_image_needs_its_space(imaged: User) -> None:
    placed = imaged.placed("box.sif")
    assert (placed.tier, placed.how, placed.size) == ("bb", "copy", 70)
    assert "an image that is staged" in placed.reason
    first, last = placed.cohort - placed.lifetime + 1, placed.cohort
    assert (first, last) == (1, 2)


def test_an_image_has_the_size_that_its_container_declares(imaged: User) -> None:
    imaged.containers[0].update(image="https://far/a.sif", metadata={"size": "1KiB"})
    assert imaged.placed("box.sif").size == 1024


def test_no_job_copies_an_image_for_itself(imaged: User) -> None:
    imaged.defines = ["pegasus.bb.mode=transient"]
    imaged.placement = "box.sif: bb\n"
    placement = imaged.decide()
    assert placement.files["box.sif"].tier == "pfs"
    own = placement.job_reservations["ID1"]
    assert "work" in own.stage_in
    assert "box.sif" not in (*own.stage_in, *own.read)

"""The user's own jobs are told from those that a planner adds."""

from __future__ import annotations

import pytest

from pegasus_bb.model.run import Kind
from pegasus_bb.report.kickstart import kind_of


@pytest.mark.parametrize(
    ("transformation", "node", "kind"),
    [
        ("pegasus::dirmanager", "create_dir_demo_0_cori", Kind.CREATE_DIR),
        ("pegasus::transfer", "stage_in_remote_cori_0_0", Kind.STAGE_IN),
        ("pegasus::transfer", "stage_out_local_cori_1_0", Kind.STAGE_OUT),
        ("pegasus::transfer", "stage_inter_local_cori_1_0", Kind.STAGE_INTER),
        ("pegasus::transfer", "stage_worker_local_demo_0_cori", Kind.OTHER),
        ("pegasus::cleanup", "clean_up_cori_level_3_0", Kind.CLEANUP),
        ("pegasus::cleanup", "cleanup_demo_0_cori", Kind.CLEANUP),
        ("pegasus::rc-client", "register_cori_0_0", Kind.REGISTER),
        ("pegasus::rc-client:1.0", "reg_0", Kind.REGISTER),
        ("bb_setup", "bb_setup_ID0000001", Kind.BB_SETUP),
        ("bb_delete", "bb_delete_ID0000004", Kind.BB_DELETE),
        ("cat1", "cat1_ID0000002", Kind.COMPUTE),
    ],
)
def test_a_job_is_known_by_its_names(
    transformation: str, node: str, kind: Kind
) -> None:
    assert kind_of(transformation, node) is kind


def test_a_users_transformation_may_be_called_like_an_auxiliary_job() -> None:
    assert kind_of("stage_in_images", "stage_in_images_ID1") is Kind.COMPUTE

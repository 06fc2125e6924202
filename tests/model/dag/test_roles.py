"""What a node is there for, told by its name: the one place that decides it."""

from __future__ import annotations

import pytest

from pegasus_bb.model.dag.roles import Role, folder_nodes, is_local_cleanup, role_of


@pytest.mark.parametrize(
    ("node", "role"),
    [
        ("bb_setup_BB0000001", Role.BB_SETUP),
        ("bb_delete_BB0000002", Role.BB_DELETE),
        ("create_dir_demo_0_cori", Role.CREATE_DIR),
        ("stage_in_remote_cori_0_0", Role.STAGE_IN),
        ("stage_inter_local_cori_1_0", Role.STAGE_INTER),
        ("stage_worker_local_demo_0_cori", Role.STAGE_WORKER),
        ("stage_out_local_cori_1_0", Role.STAGE_OUT),
        ("clean_up_cori_level_3_0", Role.CLEAN_UP),
        ("cleanup_demo_0_cori", Role.LEAF_CLEANUP),
        ("register_cori_1_0", Role.REGISTRATION),
        ("pegasus-plan_inner_ID3", Role.SUB_WORKFLOW),
        ("merge_cat_PID1_ID1", Role.CLUSTER),
        ("cat1_ID0000002", Role.TASK),
        ("bb_setup_", Role.TASK),
        ("my_stage_in_x", Role.TASK),
    ],
)
def test_a_node_has_the_role_that_its_name_says(node: str, role: Role) -> None:
    assert role_of(node) is role


def test_the_folder_of_a_run_is_made_and_removed_on_its_site() -> None:
    names = ["create_dir_demo_0_a_b", "create_dir_demo_0_local", "create_dir_x"]
    assert folder_nodes(names, Role.CREATE_DIR, "a.b") == names[:1]
    assert is_local_cleanup("cleanup_demo_0_local")
    assert not is_local_cleanup("cleanup_demo_0_cori")

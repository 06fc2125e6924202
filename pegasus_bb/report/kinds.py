"""What a job is there for, told from its names."""

from __future__ import annotations

from pegasus_bb.dag.roles import Role, role_of
from pegasus_bb.model.run import Kind

# Pegasus's auxiliary transformations are in its own namespace, so a user's
# `stage_in_images` stays compute. One program serves several kinds: the node tells.
_BY_TRANSFORMATION = {
    "dirmanager": Kind.CREATE_DIR,
    "cleanup": Kind.CLEANUP,
    "rc-client": Kind.REGISTER,
}
_BY_ROLE = {
    Role.CREATE_DIR: Kind.CREATE_DIR,
    Role.STAGE_IN: Kind.STAGE_IN,
    Role.STAGE_OUT: Kind.STAGE_OUT,
    Role.STAGE_INTER: Kind.STAGE_INTER,
    Role.CLEAN_UP: Kind.CLEANUP,
    Role.LEAF_CLEANUP: Kind.CLEANUP,
    Role.REGISTRATION: Kind.REGISTER,
}
_RESERVATION = {
    "bb_setup": Kind.BB_SETUP,
    "bb::setup": Kind.BB_SETUP,
    "bb_delete": Kind.BB_DELETE,
    "bb::delete": Kind.BB_DELETE,
}


def kind_of(transformation: str, node: str) -> Kind:
    """The kind of a task with that transformation in that node."""
    namespace, separator, name = transformation.partition("::")
    if transformation in _RESERVATION:
        return _RESERVATION[transformation]
    if namespace != "pegasus" or not separator:
        return Kind.COMPUTE
    by_program = _BY_TRANSFORMATION.get(name.partition(":")[0], Kind.OTHER)
    return _BY_ROLE.get(role_of(node), by_program)

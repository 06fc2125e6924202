"""What a job is there for, told from its names."""

from __future__ import annotations

from pegasus_bb.model.run import Kind

# Pegasus's auxiliary transformations are in its own namespace, so a user's
# `stage_in_images` stays compute. One program serves several kinds: the node tells.
_BY_TRANSFORMATION = {
    "dirmanager": Kind.CREATE_DIR,
    "cleanup": Kind.CLEANUP,
    "rc-client": Kind.REGISTER,
}
_BY_NODE = (
    ("create_dir_", Kind.CREATE_DIR),
    ("stage_in_", Kind.STAGE_IN),
    ("stage_out_", Kind.STAGE_OUT),
    ("stage_inter_", Kind.STAGE_INTER),
    ("clean_up_", Kind.CLEANUP),
    ("cleanup_", Kind.CLEANUP),
    ("register_", Kind.REGISTER),
)
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
    for prefix, kind in _BY_NODE:
        if node.startswith(prefix):
            return kind
    return _BY_TRANSFORMATION.get(name.partition(":")[0], Kind.OTHER)

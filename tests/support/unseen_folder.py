"""A Python for the nodes that does not see the submit directory, as a mount namespace
hides it; the submit host's own programs see it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

IN_A_NAMESPACE = ["unshare", "--mount", "--propagation", "private"]
# The engine links what it brings, and HTCondor copies.
_NODE = """\
#!/bin/sh
[ -n "$PEGASUS_BB_SUBMIT_DIR" ] || exec {python} "$@"
for link in *; do
    [ ! -L "$link" ] || ( cp -rL "$link" part && rm "$link" && mv part "$link" )
done
exec unshare --mount --propagation private sh -c '
    mount -t tmpfs -o size=4k none "$PEGASUS_BB_SUBMIT_DIR" && exec {python} "$@"
' sh "$@"
"""


def what_is_missing() -> str:
    """Why no folder can be hidden here; empty if one can."""
    if os.geteuid() != 0:
        return "only root can mount"
    mount = [*IN_A_NAMESPACE, "mount", "-t", "tmpfs", "none", "/mnt"]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""


def python_of_nodes(folder: Path) -> Path:
    program = folder / "python-of-nodes"
    program.write_text(_NODE.format(python=sys.executable))
    program.chmod(0o755)
    return program

"""``python3 -m pegasus_bb.stager.slurm`` is `site install` where only Python is.

The host of slurmctld needs the standard library and a Lua, and none of our commands.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.stager.slurm.install_hooks import hooks_done
from pegasus_bb.stager.slurm.slurm_config import SPOOL


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0 when it is done; 2 where nothing was changed."""
    parser = argparse.ArgumentParser(
        prog="python3 -m pegasus_bb.stager.slurm",
        description="Put burst_buffer.lua beside slurm.conf.",
    )
    parser.add_argument("--slurm-conf", required=True, help="the folder of slurm.conf")
    parser.add_argument("--spool", default=SPOOL, help="the service's spool folder")
    parser.add_argument("--undo", action="store_true", help="take it out again")
    given = parser.parse_args(argv)
    try:
        print(hooks_done(given.slurm_conf, given.spool, undo=given.undo), end="")
    except PegasusBBError as error:
        print(f"pegasus-bb: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""``python3 -m pegasus_bb.stager --site CONF``: the service where only Python is.

It needs the standard library alone, so any host of a site can run it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.stager.site_config import node_config, site_config, user_config
from pegasus_bb.stager.socket_server import run


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0 at its end; 2 where the configuration cannot be used."""
    parser = argparse.ArgumentParser(
        prog="python3 -m pegasus_bb.stager", description="The staging service."
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--site", help="the site's configuration")
    which.add_argument("--node", help="a compute node's configuration")
    given = parser.parse_args(argv)
    try:
        if given.node:
            run(node_config(given.node))
        else:
            run(site_config(given.site) if given.site else user_config())
    except PegasusBBError as error:
        print(f"stager: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())

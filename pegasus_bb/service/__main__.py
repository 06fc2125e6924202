"""``python3 -m pegasus_bb.service --site CONF``: the service where only Python is.

It needs the standard library alone, so any host of a site can run it.
"""

from __future__ import annotations

import argparse
import sys
from typing import Optional, Sequence

from pegasus_bb.errors import PegasusBBError
from pegasus_bb.service.config import site_config, user_config
from pegasus_bb.service.server import run


def main(argv: Optional[Sequence[str]] = None) -> int:
    """0 at its end; 2 where the configuration cannot be used."""
    parser = argparse.ArgumentParser(
        prog="python3 -m pegasus_bb.service", description="The staging service."
    )
    parser.add_argument("--site", help="the site's configuration, for root")
    site = parser.parse_args(argv).site
    try:
        run(site_config(site) if site else user_config())
    except PegasusBBError as error:
        print(f"stager: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())

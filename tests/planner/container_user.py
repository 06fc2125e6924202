"""A user whose program runs in a container; a script plays the container's program."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tests.support.pegasus_site import UserFolder
from tests.support.shebang import shebang

IMAGE = "docker://library/busybox:1"
# Notes its call and the image that it can read, and runs the task.
FAKE = f"""{shebang()}
import json, os, sys
argv = sys.argv[1:]
if argv[0] == "load":
    with open(argv[2]) as archive:
        print("Loaded image:", archive.read())
    sys.exit()
images = ("v1", "v2", {IMAGE!r})
at = next(n for n, word in enumerate(argv) if word in images or "/box." in word)
path = argv[at].split(":")[-1]
text = open(path).read() if path.startswith("/") else path
task = argv[at + 1 :]
if "--entrypoint" in argv:
    task.insert(0, argv[argv.index("--entrypoint") + 1])
with open({{log!r}}, "a") as log:
    log.write(json.dumps([argv, argv[at], text]) + "\\n")
os.execv(task[0], task)
"""


class ContainerUser(UserFolder):
    """The chain of ``write_site``; without ``pegasus`` nodes have none."""

    def __init__(self, root: Path, pegasus: str = "") -> None:
        super().__init__(root, pegasus)
        self.log = root / "calls"
        for name in ("apptainer", "docker"):
            self.program("programs", name, FAKE.format(log=str(self.log)))
        path = f"{root / 'programs'}:{os.environ['PATH']}"
        self.environment["PATH"] = path
        home = {"PEGASUS_HOME": pegasus} if pegasus else {}
        with self.edited("sites.yml") as sites:
            sites["sites"][1]["profiles"]["env"] = {**home, "PATH": path}

    def contain(self, program: dict[str, Any] | None = None, **container: Any) -> None:
        """Put it into the catalog; ``program``: what else that says of the program."""
        plain = {"name": "box", "type": "singularity", "image": IMAGE}
        with self.edited("transformations.yml") as data:
            data["containers"] = [{**plain, **container}]
            (place,) = data["transformations"][0]["sites"]
            place.update({"container": "box", **(program or {})})

    @property
    def calls(self) -> list[tuple[list[str], str, str]]:
        """The arguments of each, the image that they name, and what is in it."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]

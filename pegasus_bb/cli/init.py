"""pegasus-bb init: a file that declares the fast storage, to be edited."""

from __future__ import annotations

import getpass
import json
import os
from pathlib import Path

import click

from pegasus_bb.cli.output import write_page
from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import is_file
from pegasus_bb.model.catalog_files import environment
from pegasus_bb.model.catalogs import STORAGE_FILE, read_sites, site_document
from pegasus_bb.model.default_sites import LOCAL, with_default_sites
from pegasus_bb.model.document import Document, load
from pegasus_bb.model.tiers import KEY
from pegasus_bb.planner.reading import own_properties

# Where sites mount fast storage that all nodes see.
MOUNTS = ("/mnt/bb", "/bb", "/mnt/burstbuffer", "/burstbuffer", "/flash", "/fast")
_TEXT = """\
# The fast storage of site SITE. Pegasus does not read this file.
# Every key of a tier: docs/tiers.md
x-storage-tiers:
  SITE:  # where the tasks run (--sites)
    - name: bb  # any name; --bb-tier chooses one of several
      backend: directory  # or datawarp, slurm-lua, node-local
      # the folder on the fast storage: all nodes see it (node-local: each its own)
      path: PATH  # WHY
      capacity: auto  # room for all files; no sizes: half of what is free
"""


@click.command("init")
@click.argument("site", default="")
@click.option(
    "--workflow",
    type=Path,
    default="workflow.yml",
    help="Its site catalog is read.  [workflow.yml]",
)
@click.option("--path", default="", help="The folder on the fast storage.")
@click.option("--output", default="", help="The file, or - to print.  [bb.yml]")
@click.option("-f", "--force", is_flag=True, help="Replace the file.")
def command(site: str, workflow: Path, path: str, output: str, *, force: bool) -> None:
    """Write bb.yml beside the workflow: it declares the fast storage of SITE.

    Asks nothing. Edit the file, then plan with --bb-mode persistent. SITE may be left
    out if the site catalog has one site where tasks can run.
    """
    text = _declaration(site or _only_site(workflow), path)
    if output == "-":
        click.echo(text, nl=False)
        return
    file = Path(output) if output else workflow.with_name(STORAGE_FILE)
    if file.exists() and not force:
        raise UsageError(f"{file} is there already; --force replaces it")
    write_page(file, text)
    click.echo(
        f"{file}: edit it, then pegasus-bb check says whether the run would work"
    )


def _declaration(site: str, path: str) -> str:
    mounted = next((each for each in MOUNTS if _is_fast_mount(each)), "")
    why = "made if it is missing"
    if path and not path.startswith("$"):
        path = str(Path(path).absolute())
    elif not path and mounted:
        path = f"{mounted}/{getpass.getuser()}"
    elif not path:
        path = "${BB_PATH}"
        why = "write the path, or export BB_PATH"
    words = {"SITE": _word(site), "PATH": path, "WHY": why}
    text = _TEXT
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def _is_fast_mount(path: str) -> bool:
    return os.path.ismount(path) and os.access(path, os.W_OK | os.X_OK)


def _word(text: str) -> str:
    """``text`` as a word of YAML."""
    is_plain = text.replace("-", "").replace("_", "").isalnum() and text[0].isalpha()
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def _only_site(workflow: Path) -> str:
    """The one site of the user's catalog where tasks can run. Raises UsageError."""
    cwd = Path.cwd()
    properties = own_properties(None, (), cwd)
    known = Document(workflow, {})
    if is_file(workflow):
        known = load(workflow, environment(properties))
    document = site_document(known, properties, cwd)
    if KEY in document.data:
        raise UsageError(f"{document.place([KEY])} declares {KEY}: edit it there")
    sites = read_sites(with_default_sites(document, cwd)).sites
    names = [name for name in sites if name != LOCAL]
    if len(names) > 1:
        raise UsageError(
            f"{document.path} has several sites; say which: one of {', '.join(names)}"
        )
    return names[0]

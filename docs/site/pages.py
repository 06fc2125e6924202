"""A hook of MkDocs: pages of other folders join the site, and links to them work.

A README that lies beside what it describes (an example, the site catalogs) is a page of
the site under its own path. Links are written as a reader of the repository needs them;
here they become links between pages. A link to a file that is no page, such as a site
catalog, is copied into the site.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from pegasus_bb.cli import COMMANDS, GROUPS
from pegasus_bb.core.plugins import COMMANDS as ADDED
from pegasus_bb.core.plugins import plugins
from pegasus_bb.model.settings import SETTINGS

ROOT = Path(__file__).resolve().parents[2]
_ELSEWHERE = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "examples/*/README.md",
    "examples/papers/*/README.md",
    "planner-hooks/README.md",
    "news/README.md",
    "pre-scripts/README.md",
    "site-catalogs/README.md",
)
_LINK = re.compile(r"(?<!!)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")


_COMMANDS = "reference/commands.md"
_SETTINGS = "reference/properties.md"
_PAGE = """# {title}

::: mkdocs-click
    :module: {module}
    :command: command
    :prog_name: pegasus-bb {name}
    :depth: 1
    :style: table
    :list_subcommands: True
"""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put a page of each command below Commands."""
    _below(config.nav or [], [_page(name) for name in _modules()])
    return config


def _modules() -> dict[str, str]:
    """Find the module of each command, those of other distributions included."""
    added = plugins(ADDED).items()
    return {**COMMANDS, **{name: entry.module for name, entry in added}}


def _below(nav: list[Any], pages: list[str]) -> None:
    for entry in nav:
        for title, content in entry.items() if isinstance(entry, dict) else ():
            if title == "Commands":
                content.extend(pages)
            elif isinstance(content, list):
                _below(content, pages)


def _page(name: str) -> str:
    return f"reference/commands/{name}.md"


def on_page_content(html: str, **_: Any) -> str:
    """A default that click does not have is none."""
    return html.replace("Sentinel.UNSET", "none")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of other folders, and the files that any page links to."""
    for pattern in _ELSEWHERE:
        for path in sorted(ROOT.glob(pattern)):
            _add(files, config, path)
    for file in list(files.documentation_pages()):
        for target in _LINK.findall(file.content_string):
            path = _in_repository(file, target[0])
            if path.suffix != ".md" and path.is_file():
                _add(files, config, path)
    for name, module in _modules().items():
        text = _PAGE.format(title=name, module=module, name=name)
        files.append(File.generated(config, _page(name), content=text))
    return files


def settings_table() -> str:
    """Write a row for each setting of the one table of settings."""
    lines = ["| option | takes | meaning | default |", "| --- | --- | --- | --- |"]
    for name, row in SETTINGS.items():
        shape = row.shape.replace("|", " \\| ")
        option = f"--bb-{name.replace('_', '-')}"
        lines.append(f"| `{option}` | {shape} | {row.text} | {row.default} |")
    return "\n".join(lines)


def _listed() -> str:
    """The commands by what a person wants to do."""
    lines: list[str] = []
    for group, names in GROUPS.items():
        lines.append(f"- {group}: {_links(names)}")
    lines.append(f"- In distributions of their own: {_links(plugins(ADDED))}")
    return "\n".join(lines)


def _links(names: Iterable[str]) -> str:
    return ", ".join(f"[{name}](commands/{name}.md)" for name in names)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links between files of the repository become links between pages."""
    if page.file.src_uri == _COMMANDS:
        return f"{markdown}\n{_listed()}\n"
    if page.file.src_uri == _SETTINGS:
        markdown = re.sub("<!-- settings: .*-->", settings_table(), markdown)

    def replaced(match: re.Match[str]) -> str:
        target, anchor = match.group(1), match.group(2) or ""
        path = _in_repository(page.file, target)
        if path == ROOT / "README.md":
            path = ROOT / "docs" / "index.md"
        if path.is_dir():
            path = path / "README.md"
        here = posixpath.dirname(page.file.src_uri)
        return f"]({posixpath.relpath(_in_site(path), here or '.')}{anchor})"

    return _LINK.sub(replaced, markdown)


def _add(files: Files, config: MkDocsConfig, path: Path) -> None:
    uri = _in_site(path)
    if files.get_file_from_path(uri) is None:
        files.append(File.generated(config, uri, abs_src_path=str(path)))


def _in_repository(file: File, target: str) -> Path:
    source = file.abs_src_path
    folder = Path(source).parent if source else ROOT / "docs"
    return Path(os.path.normpath(folder / target))


def _in_site(path: Path) -> str:
    found = path.relative_to(ROOT)
    parts = found.parts[1:] if found.parts[0] == "docs" else found.parts
    return posixpath.join(*parts)

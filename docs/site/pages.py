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
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
_ELSEWHERE = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "examples/*/README.md",
    "examples/papers/*/README.md",
    "planner-hooks/README.md",
    "pre-scripts/README.md",
    "site-catalogs/README.md",
)
_LINK = re.compile(r"(?<!!)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")


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
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links between files of the repository become links between pages."""

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

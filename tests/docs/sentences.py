"""How long sentences are: `python -m tests.docs.sentences` prints the longest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

DOCS = Path(__file__).resolve().parents[2] / "docs"
MOST = 25  # words
_CODE = re.compile(r"^ *```.*?^ *```$|^---\n.*?^---$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_HEAD = re.compile(r"^(#.*)$", re.MULTILINE)
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=[-*|]|\d+\.)")
_END = re.compile(r"(?<=[.!?:;])\s+")


def pages() -> list[Path]:
    """Those for people who learn or do something, as the site divides them."""
    nav = yaml.safe_load((DOCS.parent / "mkdocs.yml").read_text())["nav"]
    parts = {name: part for each in nav for name, part in each.items()}
    titled = (*parts["Tutorials"], *parts["How-to"])
    return sorted(DOCS / page for each in titled for page in each.values())


def sentences(page: Path) -> Iterator[str]:
    text = _LINK.sub(r"\1", _CODE.sub("", page.read_text()))
    text = _HEAD.sub(r"\n\1\n", text)
    for paragraph in re.split(_PARAGRAPH, text):
        for cell in paragraph.split("|"):
            for sentence in _END.split(" ".join(cell.split())):
                if sentence.strip():
                    yield sentence


def words(sentence: str) -> int:
    return len(sentence.split())


def longest(page: Path) -> str:
    return max(sentences(page), key=words, default="")


def main() -> None:
    print(f"the longest sentence of each page, in words (at most {MOST}):")
    for page in pages():
        sentence = longest(page)
        print(f"{words(sentence):3}  {page.relative_to(DOCS)}: {sentence}")


if __name__ == "__main__":
    main()

"""A tree copied by hand, by the compiled helper or by Python alone."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pegasus_bb.core.files import read_journal
from pegasus_bb.runtime.staging.folder_lfns import digest_path

from .sweep import Story, no_parts_below

PACKAGE = Path(__file__).parents[2]
COPY = """
import sys
sys.path.insert(0, sys.argv[1])
from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.runtime.staging.digests import SHA256
from pegasus_bb.runtime.staging.stage_journal import StageJournal
from pegasus_bb.runtime.staging.stage_tree import Stage
journal, come, go = sys.argv[2:]
try:
    stage = Stage(come, go, StageJournal(journal, come, go), SHA256, print)
    sys.exit(0 if stage.run() else 81)
except PegasusBBError as error:
    print(error)
    sys.exit(error.exit_code)
"""
FILES = {
    "empty": b"",
    "small": b"small",
    "old": b"old: new",
    "linked": b"linked: new",
    "folder/inner": b"inner",
    "folder/deep/large": bytes(range(256)) * 12_000,
}


class Copy(Story):
    """Files small and large, a link, two names of one file, an empty folder."""

    helper = ""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.source, self.dest = root / "from", root / "to"
        (self.source / "nothing").mkdir(parents=True)
        for name, data in FILES.items():
            (self.source / name).parent.mkdir(parents=True, exist_ok=True)
            (self.source / name).write_bytes(data)
        os.link(self.source / "small", self.source / "folder" / "twin")
        (self.source / "small").chmod(0o750)
        (self.source / "way").symlink_to("folder/inner")
        self.precious = root / "precious"
        self.precious.write_text("not ours")
        self.dest.mkdir()
        (self.dest / "linked").symlink_to(self.precious)
        (self.dest / "old").write_bytes(b"old: old")

    @property
    def argv(self) -> list[str]:
        places = [self.root / "journal", self.source, self.dest]
        return [sys.executable, "-IS", "-c", COPY, *map(str, [PACKAGE, *places])]

    @property
    def environ(self) -> dict[str, str]:
        return {**super().environ, "PEGASUS_BB_HELPER": self.helper}

    def check_left(self) -> None:
        """Every name stands for the whole file, or for what it was before."""
        assert self.precious.read_text() == "not ours"
        for name, data in FILES.items():
            assert (self.source / name).read_bytes() == data
            copy = self.dest / name
            if copy.is_symlink() or not copy.exists():
                continue
            assert copy.read_bytes() == data or copy.read_bytes() == b"old: old"
        for line in read_journal(str(self.root / "journal")):
            if "name" in line:
                assert (self.dest / line["name"]).read_bytes() == FILES.get(
                    line["name"], b"small"
                )

    def check_done(self) -> None:
        self.check_left()
        assert digest_path(str(self.dest)) == digest_path(str(self.source))
        assert (self.dest / "folder" / "twin").samefile(self.dest / "small")
        assert (self.dest / "small").stat().st_mode & 0o777 == 0o750
        no_parts_below(self.dest)


class PlainCopy(Copy):
    """The same where nothing is compiled."""

    helper = "none"

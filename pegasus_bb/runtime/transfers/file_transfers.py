"""The transfers of a job list: copies and links, by the placement.

A transfer has one or more ways, each with a source and a destination, best first. Files
are copied together in rounds: the first way of each, then the next way of those that
failed, and so on. Links and folders are made at once.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Sequence

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.paths import plain_path
from pegasus_bb.runtime.scratch_links import put_link
from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.staging.lookalikes import folded_path
from pegasus_bb.runtime.transfers.checksums import check_digest
from pegasus_bb.runtime.transfers.protected_inputs import UserInputs
from pegasus_bb.runtime.transfers.resumed_copies import Copies
from pegasus_bb.runtime.transfers.scratch import PFS, Scratch
from pegasus_bb.runtime.transfers.transfer_jobs import Transfer, Url
from pegasus_bb.runtime.transfers.transfer_methods import (
    Done,
    Try,
    Way,
    give_up,
    ways_of,
)


class FileTransfers:
    def __init__(
        self,
        scratch: Scratch,
        inputs: UserInputs,
        copies: Copies,
        *,
        links: bool = False,
        schemes: Container[str] = (),
    ) -> None:
        """``links``: --symlink, make links where possible. ``schemes``: what we fetch
        of other hosts."""
        self._scratch = scratch
        self._inputs = inputs
        self._copies = copies
        self._links = links
        self._schemes = schemes
        self._folders: set[str] = set()  # that were made, or were there

    def move(self, jobs: Sequence[Transfer]) -> Iterator[Done]:
        """Do all ``jobs`` that can be done; yields the outcome of each, in any order.

        An error is CopyFailed with the reason of each try, or NeedsOtherTool.
        """
        tries = [Try(job, ways_of(job, self._schemes)) for job in jobs]
        while tries:
            again: list[Try] = []
            for done in self._round(tries):
                if isinstance(done, Try):
                    again.append(done)
                else:
                    yield done
            tries = [each for each in again if each.ways]
            failed = [each for each in again if not each.ways]
            yield from (give_up(each, self._schemes) for each in failed)

    def _round(self, tries: Sequence[Try]) -> Iterator[Done | Try]:
        """Try the first way of each; yields those that are done and those to try again.

        A round has one copy per destination; others to the same destination, or to one
        that the file system may take for the same, follow in later rounds, in the order
        of the list.
        """
        copies: dict[str, list[Way]] = {}  # by destination: ways that share a copy
        closed: set[str] = set()
        for attempt in tries:
            if not attempt.ways:
                yield attempt
                continue
            try:
                done = self._start(attempt)
            except (PegasusBBError, OSError) as error:
                yield attempt.failed(error)
                continue
            if isinstance(done, Done):
                yield done
                continue
            place = folded_path(self._place(done.target))
            alike = copies.setdefault(place, [])
            if place not in closed and (not alike or alike[0].is_same_copy(done)):
                alike.append(done)
            else:
                closed.add(place)
                yield attempt
        yield from self._copy(list(copies.values()))

    def _place(self, target: str) -> str:
        """The real path of ``target``: two paths may lead to one folder, through
        links."""
        folder, name = os.path.split(target)
        return os.path.join(self._scratch.real_folder(folder), name)

    def _copy(self, copies: Sequence[list[Way]]) -> Iterator[Done | Try]:
        """Make each copy once for all ways that share it."""
        alike = {id(ways[0]): ways for ways in copies}
        for way, size, error in self._copies.copy([ways[0] for ways in copies]):
            try:
                if error is None:
                    self._link_to_target(way)
            except (PegasusBBError, OSError) as failure:
                error = failure
            for each in alike[id(way)]:
                if error is None:
                    yield Done(each.attempt.job, each.what(size))
                else:
                    yield each.attempt.failed(error)

    def _start(self, attempt: Try) -> Done | Way:
        """Make a link, or prepare a copy. Raises PegasusBBError, OSError."""
        job = attempt.job
        (source, dest) = attempt.ways[0]
        from_path = self._source(source)
        to_path = plain_path(self._scratch.real(dest.path))
        lfn = self._scratch.lfn_of(to_path)
        self._check_no_input(from_path, to_path)
        self._scratch.check_results_place(to_path)
        self._make_folder_of(to_path)
        if source.is_local and self._wants_link(lfn, dest):
            check_digest(from_path, from_path, job.checksum)
            return Done(job, self._link(from_path, to_path))
        home = self._scratch.home(lfn)
        if home:
            self._check_no_input(from_path, home)
            self._make_folder_of(home)
        promised = not home and self._is_promised(job.lfn, to_path)
        hint = self._scratch.hint(lfn)
        return Way(attempt, from_path, to_path, home or to_path, promised, hint)

    def _make_folder_of(self, path: str) -> None:
        folder = os.path.dirname(path)
        if folder not in self._folders:
            os.makedirs(folder, exist_ok=True)
            self._folders.add(folder)

    def _source(self, source: Url) -> str:
        """Its path, or its URL if it is of another host. Raises CopyFailed."""
        if not source.is_local:
            return source.text
        path = os.path.abspath(self._scratch.real(source.path))
        if not os.path.exists(path):
            raise CopyFailed(f"{path}: is not there")
        return path

    def _wants_link(self, lfn: str | None, dest: Url) -> bool:
        """The placement decides; for a file that it does not have, the URL."""
        entry = self._scratch.entry(lfn)
        if entry:
            return bool(entry.get("tier") == PFS and entry.get("how") == "link")
        return dest.scheme == "symlink" or self._links

    def _link(self, source: str, dest: str) -> str:
        if source == dest or (not os.path.islink(dest) and is_same(source, dest)):
            return f"{dest} is {source} already"
        put_link(dest, self._scratch.link_text(source, dest))
        return f"link from {dest} to {source}"

    def _link_to_target(self, way: Way) -> None:
        if way.target != way.dest:
            put_link(way.dest, way.target)

    def _check_no_input(self, source: str, dest: str) -> None:
        if dest in self._inputs and not is_same(source, dest):
            raise CopyFailed(
                f"{dest} is an input of this workflow, so it was not replaced by "
                f"{source}; let the result go to another place"
            )

    def _is_promised(self, lfn: str, dest: str) -> bool:
        where = self._scratch.outputs.get(lfn)
        return where is not None and os.path.normpath(where) == os.path.normpath(dest)


def is_same(one: str, other: str) -> bool:
    """Whether both are one file: device and inode, never the inode alone."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False

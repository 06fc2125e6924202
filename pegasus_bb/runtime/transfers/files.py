"""Transfers of a job list: copies and links, as the placement says.

A transfer has one or more ways, a source and a destination each, best first. Files
that are to be copied go to the mover together: a round with the first way of each, then
one with the next way of those that failed, and so on. Links and folders are done at
once.
"""

from __future__ import annotations

import os
from typing import Dict, Iterator, List, Sequence, Set, Union

from pegasus_bb.errors import PegasusBBError
from pegasus_bb.paths import plain_path
from pegasus_bb.runtime.links import put_link
from pegasus_bb.runtime.transfers.copies import Copies
from pegasus_bb.runtime.transfers.inputs import Inputs
from pegasus_bb.runtime.transfers.jobs import Transfer, Url
from pegasus_bb.runtime.transfers.scratch import PFS, Scratch
from pegasus_bb.runtime.transfers.ways import Done, Try, Way, given_up, ways_of
from pegasus_bb.staging.failures import CopyFailed


class Transfers:
    def __init__(
        self, scratch: Scratch, inputs: Inputs, copies: Copies, links: bool = False
    ) -> None:
        """``links``: --symlink, a link wherever a link can be."""
        self._scratch, self._inputs, self._copies = scratch, inputs, copies
        self._links = links
        self._real: Dict[str, str] = {}  # folders that were looked up

    def move(self, jobs: Sequence[Transfer]) -> Iterator[Done]:
        """Do all ``jobs`` that can be done; what became of each, in no order.

        An error is CopyFailed with the reason of each try, or NeedsOtherTool.
        """
        tries = [Try(job, ways_of(job)) for job in jobs]
        while tries:
            again: List[Try] = []
            for done in self._round(tries):
                if isinstance(done, Try):
                    again.append(done)
                else:
                    yield done
            tries = [each for each in again if each.ways]
            yield from (given_up(each) for each in again if not each.ways)

    def _round(self, tries: Sequence[Try]) -> Iterator[Union[Done, Try]]:
        """Try the first way of each; what was done, and what is to be tried again.

        One copy to each place a round: others to the same place come after it, in the
        order of the list.
        """
        copies: Dict[str, List[Way]] = {}  # by place: ways for which one copy does
        closed: Set[str] = set()
        for attempt in tries:
            if not attempt.ways:
                yield attempt
                continue
            try:
                done = self._begin(attempt)
            except (PegasusBBError, OSError) as error:
                yield attempt.failed(error)
                continue
            if isinstance(done, Done):
                yield done
                continue
            place = self._place(done.target)
            alike = copies.setdefault(place, [])
            if place not in closed and (not alike or alike[0].is_same_copy(done)):
                alike.append(done)
            else:
                closed.add(place)
                yield attempt
        yield from self._copied(list(copies.values()))

    def _place(self, target: str) -> str:
        """One text for one place: two paths may lead to one folder, through links."""
        folder, name = os.path.split(target)
        if folder not in self._real:
            self._real[folder] = os.path.realpath(folder)
        return os.path.join(self._real[folder], name)

    def _copied(self, copies: Sequence[List[Way]]) -> Iterator[Union[Done, Try]]:
        """``copies``: a list each of those that one copy does for."""
        alike = {id(ways[0]): ways for ways in copies}
        for way, size, error in self._copies.copy([ways[0] for ways in copies]):
            try:
                if error is None:
                    self._link_home(way)
            except (PegasusBBError, OSError) as failure:
                error = failure
            for each in alike[id(way)]:
                if error is None:
                    yield Done(each.attempt.job, each.what(size))
                else:
                    yield each.attempt.failed(error)

    def _begin(self, attempt: Try) -> Union[Done, Way]:
        """Do what needs no copy. Raises PegasusBBError, OSError."""
        job, (source, dest) = attempt.job, attempt.ways[0]
        from_path = os.path.abspath(self._scratch.real(source.path))
        to_path = plain_path(self._scratch.real(dest.path))
        if not os.path.exists(from_path):
            raise CopyFailed(f"{from_path}: is not there")
        lfn = self._scratch.lfn_of(to_path)
        self._spare_inputs(from_path, to_path)
        os.makedirs(os.path.dirname(to_path), exist_ok=True)
        if self._wants_link(lfn, dest):
            return Done(job, self._link(from_path, to_path))
        home = self._scratch.home(lfn)
        if home:
            self._spare_inputs(from_path, home)
            os.makedirs(os.path.dirname(home), exist_ok=True)
        promised = not home and self._is_promised(job.lfn, to_path)
        hint = self._scratch.hint(lfn)
        return Way(attempt, from_path, to_path, home or to_path, promised, hint)

    def _wants_link(self, lfn: object, dest: Url) -> bool:
        """The placement decides; only where it says nothing does the URL."""
        entry = self._scratch.entry(lfn if isinstance(lfn, str) else None)
        if entry:
            return bool(entry.get("tier") == PFS and entry.get("how") == "link")
        return dest.scheme == "symlink" or self._links

    def _link(self, source: str, dest: str) -> str:
        if source == dest or (not os.path.islink(dest) and is_same(source, dest)):
            return f"{dest} is {source} already"
        put_link(dest, self._scratch.link_text(source, dest))
        return f"link from {dest} to {source}"

    def _link_home(self, way: Way) -> None:
        if way.target != way.dest:
            put_link(way.dest, way.target)

    def _spare_inputs(self, source: str, dest: str) -> None:
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

"""New lines of a journal that somebody else writes."""

from __future__ import annotations

from pathlib import Path

from pegasus_bb.engine.journal import Event, parse_event


def offset_of(path: Path, cluster: int) -> int:
    """Where the part of that DAGMan begins in the journal: all of it where it does not
    say."""
    started = f"DAGMAN_STARTED {cluster}.0 ".encode()
    offset = 0
    try:
        with path.open("rb") as source:
            for line in source:
                if started in line:
                    return offset
                offset += len(line)
    except FileNotFoundError:
        pass
    return 0


class Tail:
    """The journal at ``path`` from ``offset`` on; a line counts once it is whole."""

    def __init__(self, path: Path, offset: int = 0) -> None:
        self._path, self._offset = path, offset

    def new(self) -> list[Event]:
        """The events that were added since the last call."""
        try:
            with self._path.open("rb") as source:
                if source.seek(0, 2) < self._offset:
                    self._offset = 0  # monitord begins a new one for a rescue run
                source.seek(self._offset)
                data = source.read()
        except FileNotFoundError:
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        lines = whole.decode(errors="surrogateescape").splitlines(keepends=True)
        return [event for line in lines if (event := parse_event(line)) is not None]

"""Orders to nodes, and their answers: the head's side of the mailbox."""

from __future__ import annotations

from pegasus_bb.core.units import abbreviate, format_duration
from pegasus_bb.stager.messages import message_of
from pegasus_bb.stager.nodes.job_record import NodesRecord
from pegasus_bb.stager.nodes.mailbox import ANSWERS, ORDERS, Mailbox
from pegasus_bb.stager.nodes.nodes_config import NodesConfig

_QUIET = 30.0  # seconds without a sign of life that are worth a word


class Orders:
    """An order is written once by each service: twice does no harm."""

    def __init__(self, config: NodesConfig) -> None:
        """Raises OSError, UsageError."""
        self._root, self._mailbox = config.path, Mailbox(config.mailbox)
        self._posted: set[tuple[str, int, str]] = set()
        self._trouble: dict[str, str] = {}  # with the letters of a node

    def send(self, record: NodesRecord) -> bool:
        """Write the order's letters that are not there; whether all of them are."""
        for node in record.silent:
            key = (record.folder, record.number, node)
            if key in self._posted:
                continue
            try:
                self._mailbox.open(node)
                order = record.order(node, self._root)
                self._mailbox.post(node, ORDERS, record.folder, record.number, order)
            except OSError as error:
                self._trouble[node] = message_of(error)
                return False
            self._posted.add(key)
        return True

    def collect(self, record: NodesRecord) -> list[str]:
        """Answers that were not there before go into ``record``; the nodes that gave
        them. Their letters stay until ``acknowledge``."""
        new = []
        for node in record.silent:
            try:
                for letter in self._mailbox.letters(node, ANSWERS):
                    if (letter.folder, letter.number) == (record.folder, record.number):
                        record.answers[node] = letter.read()
                        new.append(node)
                self._trouble.pop(node, None)
            except (OSError, ValueError) as error:
                self._trouble[node] = str(error)
        return new

    def acknowledge(self, record: NodesRecord, nodes: list[str]) -> None:
        """Remove the answers of ``nodes``, and older ones about the folder."""
        for node in nodes:
            try:
                for letter in self._mailbox.letters(node, ANSWERS):
                    if letter.folder == record.folder:
                        letter.drop()
            except OSError as error:
                self._trouble[node] = str(error)

    def forget(self, record: NodesRecord) -> None:
        """Forget an order: all about its folder is over."""
        self._posted = {key for key in self._posted if key[0] != record.folder}

    def state_of(self, node: str) -> str:
        """Return why there is no answer of ``node``, as far as is known."""
        silence = self._mailbox.silence(node)
        if node in self._trouble:
            return self._trouble[node]
        if silence is None:
            return "its service does not run"
        if silence > _QUIET:
            return f"no sign of life for {format_duration(silence)}"
        return "its service is at work"

    def silence_of(self, record: NodesRecord) -> str:
        """Return which nodes have not answered, and why."""
        return abbreviate([f"{n} ({self.state_of(n)})" for n in record.silent])

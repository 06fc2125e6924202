"""A worker: does tasks as the user who submitted them, one assignment at a time.

It reads JSON lines on stdin and writes JSON lines on stdout; the service is on the
other ends (conversation.py). It ends with its stdin.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time

from pegasus_bb.stager.capabilities import become
from pegasus_bb.stager.conversation import Conversation, Message, Say
from pegasus_bb.stager.copying import do_tasks

_NICE = 19  # a copy has 1.5 % of a processor that a job or slurmctld wants, else all
_DEEPEST = 20_000  # calls: a tree may have some thousand levels


def main(uid: str, sign: str) -> int:
    """Serve as ``uid`` until stdin ends; then nothing goes on. ``sign``: seconds
    between two signs of life."""
    become(int(uid))
    os.nice(_NICE)
    sys.setrecursionlimit(_DEEPEST)
    os.umask(0o077)  # what is made on the way; copies get the bits of their sources
    lock = threading.Lock()
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a stray print must not look like a message

    def say(message: Message) -> None:
        try:
            with lock:
                out.write(json.dumps(message) + "\n")
                out.flush()
        except BrokenPipeError:  # the service has gone, and its next one goes on
            os._exit(0)

    threading.Thread(target=_live, args=(say, float(sign)), daemon=True).start()
    service = Conversation(say)
    for line in sys.stdin:
        message = json.loads(line)
        service.handle(message)
        if "do" in message:
            each = (service, message["do"])
            threading.Thread(target=do_tasks, args=each, daemon=True).start()
    os._exit(0)  # threads of a task that the service has left end here


def _live(say: Say, seconds: float) -> None:
    """A thread of its own: a slow disk stops the others, SIGSTOP stops this one too."""
    while True:
        say({"lives": True})
        time.sleep(seconds)

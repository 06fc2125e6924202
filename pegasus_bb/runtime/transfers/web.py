"""Fetches a file of a web server, whole or not at all.

A connection that breaks is resumed where it broke, if the server says that the file is
still the same one (If-Range); else the file is fetched from its start.
"""

from __future__ import annotations

import http.client
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator

from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.runtime.staging.digests import SHA256
from pegasus_bb.runtime.staging.failures import CopyFailed, on_a_line

if TYPE_CHECKING:
    from typing import IO, Any

SCHEMES = ("http", "https")
_CHUNK = 1 << 20  # bytes
_SILENCE = 60.0  # seconds without a byte until a connection counts as broken
_TRIES = 5  # one after the other that bring nothing
_LONGEST_PAUSE = 30.0  # seconds
_LATER = (408, 425, 429)  # a retry may help, as for all above 499
_NO_SUCH_RANGE = 416
_UNTRUSTED = "SSLCertVerificationError"
_RANGE = re.compile(r"bytes (\d+)-\d*/(\d+|\*)")


def fetch(url: str, out: int, sleep: Callable[[float], None] = time.sleep) -> str:
    """Fetch ``url`` into the empty open file ``out``; returns its digest, sha256:...

    Raises CopyFailed, and OSError of ``out``.
    """
    download = _Download(url, out)
    tries = most = 0
    while True:
        try:
            download.go_on()
            return download.digest
        except _Interrupted as error:
            tries = 1 if download.done > most else tries + 1
            most = max(most, download.done)
            if tries >= _TRIES:
                what = f"{on_a_line(url)}: {error}; tried {_TRIES} times"
                raise CopyFailed(what + download.advice) from error
        sleep(min(_LONGEST_PAUSE, 2.0 ** (tries - 1)))


class _Interrupted(Exception):
    """A try ended before the file was whole; another may go on."""


class _Download:
    def __init__(self, url: str, out: int) -> None:
        self._url = url
        self._out = out
        self._opener = _opener()
        self._size: int | None = None  # what the server says
        self._answered = False
        self._forget()

    def _forget(self) -> None:
        """Start again."""
        self._validator = ""  # the file's ETag or time: by it a change is seen
        self._hasher = SHA256.new()
        self.done = 0  # bytes
        os.ftruncate(self._out, 0)

    @property
    def digest(self) -> str:
        return SHA256.text(self._hasher)

    @property
    def advice(self) -> str:
        """Say what would help if the host has never answered."""
        if self._answered:
            return ""
        node = os.uname().nodename
        return (
            f". Does {node} reach that host? The environment variables http_proxy and "
            "https_proxy name a way out; else put a copy of the file where nodes see "
            "it, and name that in the catalog"
        )

    def go_on(self) -> None:
        """Fetch what is missing. Raises _Interrupted, CopyFailed, OSError."""
        with self._answer() as answer:
            self._begin(answer)
            for chunk in _chunks(answer):
                self._write(chunk)
        if self._size is None or self.done == self._size:
            return
        what = f"{self.done} bytes came of {self._size}"
        if self.done > self._size:
            self._forget()
        raise _Interrupted(what)

    def _write(self, chunk: bytes) -> None:
        view = memoryview(chunk)
        while view:
            written = os.pwrite(self._out, view, self.done)
            self._hasher.update(view[:written])
            self.done += written
            view = view[written:]

    def _answer(self) -> IO[bytes]:
        headers = {"Accept-Encoding": "identity", "User-Agent": "pegasus-bb"}
        if not self._validator:
            self._forget()
        if self.done:
            headers["Range"] = f"bytes={self.done}-"
            headers["If-Range"] = self._validator
        try:
            request = urllib.request.Request(self._url, headers=headers)  # noqa: S310
            answer: IO[bytes] = self._opener.open(request, timeout=_SILENCE)
            self._answered = True
            return answer
        except urllib.error.HTTPError as error:
            self._answered = True
            error.close()
            what = f"the server answered {error.code} {error.reason}"
            if error.code == _NO_SUCH_RANGE and self.done:
                self._forget()
            elif error.code < 500 and error.code not in _LATER:
                raise self._failed(what) from error
            raise _Interrupted(what) from error
        except (ValueError, http.client.InvalidURL) as error:
            raise self._failed(str(error)) from error
        except (OSError, http.client.HTTPException) as error:
            why: object = error
            if isinstance(error, urllib.error.URLError):
                why = error.reason
            if isinstance(why, str) or type(why).__name__ == _UNTRUSTED:
                raise self._failed(str(why)) from error  # a scheme or a server
            raise _Interrupted(_text(why)) from error

    def _failed(self, what: str) -> CopyFailed:
        return CopyFailed(f"{on_a_line(self._url)}: {what}")

    def _begin(self, answer: Any) -> None:
        """Note what the server says of the file. Raises _Interrupted."""
        headers = answer.headers
        if answer.status == http.client.PARTIAL_CONTENT:
            match = _RANGE.match(headers.get("Content-Range") or "")
            if match is None or int(match[1]) != self.done:
                self._forget()
                raise _Interrupted("the server sent another part than was asked for")
            self._size = int(match[2]) if match[2].isdigit() else None
            return
        self._forget()
        length = headers.get("Content-Length") or ""
        self._size = int(length) if length.isdigit() else None
        tag = headers.get("ETag") or ""
        if not tag.startswith('"'):  # a weak one is for like files, too
            tag = headers.get("Last-Modified") or ""
        self._validator = tag


def _chunks(answer: IO[bytes]) -> Iterator[bytes]:
    while True:
        try:
            chunk = answer.read(_CHUNK)
        except (OSError, http.client.HTTPException) as error:
            raise _Interrupted(_text(error)) from error
        if not chunk:
            return
        yield chunk


def _text(error: object) -> str:
    return str(error) or type(error).__name__


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows a server to the same scheme, and from http to https."""

    http_error_308 = urllib.request.HTTPRedirectHandler.http_error_302  # 3.11 has it

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        schemes = req.type, newurl.partition(":")[0].lower()
        if schemes[0] != schemes[1] and schemes != SCHEMES:
            raise CopyFailed(
                f"{on_a_line(req.full_url)}: the server sends us to "
                f"{on_a_line(newurl)}, and only http and https may be followed, never "
                "from https to http; write that URL into the catalog if you trust it"
            )
        known = 307 if code == 308 else code
        return super().redirect_request(req, fp, known, msg, headers, newurl)


def _opener() -> urllib.request.OpenerDirector:
    """Return an opener of http and https alone: no server makes us read a file."""
    opener = urllib.request.OpenerDirector()
    handlers: list[Any] = [
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        _Redirects(),
        urllib.request.HTTPErrorProcessor(),
    ]
    if hasattr(urllib.request, "HTTPSHandler"):  # this Python has ssl
        handlers.append(urllib.request.HTTPSHandler())
    for handler in handlers:
        opener.add_handler(handler)
    return opener

"""A small web server on this machine that does what a test says."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Request(BaseHTTPRequestHandler):
    """One request; an answer writes with these."""

    protocol_version = "HTTP/1.1"
    server: WebServer

    def do_GET(self) -> None:
        self.server.seen.append(dict(self.headers))
        self.close_connection = True
        answers = self.server.answers
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        answer(self)

    def log_message(self, *_: object) -> None:
        pass

    def say(self, code: int, body: bytes = b"", **headers: object) -> None:
        """``headers``: with _ for -; a Content-Length of the body if none is given."""
        self.send_response(code)
        named = {key.replace("_", "-"): str(value) for key, value in headers.items()}
        for key, value in {"Content-Length": str(len(body)), **named}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)

    @property
    def start(self) -> int:
        """The first byte that the client asks for."""
        return int(self.headers.get("Range", "bytes=0-")[6:].partition("-")[0])


Answer = Callable[[Request], None]


class WebServer(ThreadingHTTPServer):
    """It gives its ``answers`` in turn, the last one for ever."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Request)
        self.answers: list[Answer] = []
        self.seen: list[dict[str, str]] = []  # the headers of each request

    def url(self, path: str = "/data/in.txt") -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"

    @property
    def ranges(self) -> list[str | None]:
        return [headers.get("Range") for headers in self.seen]


@contextmanager
def serving() -> Iterator[WebServer]:
    server = WebServer()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def whole(body: bytes, **headers: object) -> Answer:
    return lambda request: request.say(200, body, **headers)


def cut(body: bytes, after: int, **headers: object) -> Answer:
    """The connection ends after so many bytes of ``body``."""

    def answer(request: Request) -> None:
        request.say(200, body[:after], Content_Length=len(body), **headers)

    return answer


def rest(body: bytes, **headers: object) -> Answer:
    """The part that the client asks for."""

    def answer(request: Request) -> None:
        there = f"bytes {request.start}-{len(body) - 1}/{len(body)}"
        request.say(206, body[request.start :], Content_Range=there, **headers)

    return answer


def code(number: int, **headers: object) -> Answer:
    return lambda request: request.say(number, b"no", **headers)

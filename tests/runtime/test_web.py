"""A file of a web server comes whole, or the reason says why it did not."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.transfers import web
from tests.support.web_server import Answer, WebServer, code, cut, rest, serving, whole

BODY = bytes(range(256)) * 20_000
OTHER = BODY[::-1]
TAG = '"v1"'
DIGEST = f"sha256:{hashlib.sha256(BODY).hexdigest()}"


class Client:
    """Fetches from a server into a file, and notes the pauses."""

    def __init__(self, server: WebServer, path: Path) -> None:
        self.server, self.path = server, path
        self.pauses: list[float] = []

    def fetch(self, *answers: Answer, url: str = "") -> str:
        self.server.answers = list(answers)
        out = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            return web.fetch(url or self.server.url(), out, self.pauses.append)
        finally:
            os.close(out)

    def refused(self, *answers: Answer, url: str = "") -> str:
        with pytest.raises(CopyFailed) as error:
            self.fetch(*answers, url=url)
        return str(error.value)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with serving() as server:
        yield Client(server, tmp_path / "out")


@pytest.mark.parametrize("said", [{"ETag": TAG}, {"Last_Modified": "Mon, 1 Jan 2024"}])
def test_a_broken_connection_is_resumed_where_it_broke(
    client: Client, said: dict[str, str]
) -> None:
    assert client.fetch(cut(BODY, 70_000, **said), rest(BODY, **said)) == DIGEST
    assert client.path.read_bytes() == BODY
    assert client.server.ranges == [None, "bytes=70000-"]
    assert client.server.seen[1]["If-Range"] == next(iter(said.values()))


@pytest.mark.parametrize(
    ("said", "asked"),
    [({}, None), ({"ETag": 'W/"like"'}, None), ({"ETag": '"old"'}, "bytes=70000-")],
)
def test_without_a_proof_that_it_is_the_same_file_it_starts_again(
    client: Client, said: dict[str, str], asked: str | None
) -> None:
    """Also where the server tells by its whole answer that it has changed."""
    done = client.fetch(cut(OTHER, 70_000, **said), whole(BODY, ETag=TAG))
    assert done == DIGEST
    assert client.path.read_bytes() == BODY
    assert client.server.ranges == [None, asked]


def test_another_part_than_asked_for_is_not_used(client: Client) -> None:
    def wrong(request: object) -> None:
        request.say(206, b"xx", Content_Range="bytes 0-1/2")  # type: ignore[attr-defined]

    assert client.fetch(cut(BODY, 70_000, ETag=TAG), wrong, whole(BODY)) == DIGEST


@pytest.mark.parametrize("number", [503, 429])
def test_a_server_in_trouble_is_asked_again_later(client: Client, number: int) -> None:
    assert client.fetch(code(number), code(number), whole(BODY)) == DIGEST
    assert client.pauses == [1.0, 2.0]


@pytest.mark.parametrize("number", [401, 404])
def test_a_no_is_final(client: Client, number: int) -> None:
    assert f"in.txt: the server answered {number}" in client.refused(code(number))
    assert len(client.server.seen) == 1


def test_a_server_that_never_recovers_is_given_up(client: Client) -> None:
    assert "answered 503 Service Unavailable; tried 5 times" in client.refused(
        code(503)
    )
    assert client.pauses == [1.0, 2.0, 4.0, 8.0]


def test_as_long_as_bytes_come_it_goes_on(client: Client) -> None:
    def some(request: object) -> None:
        start = request.start  # type: ignore[attr-defined]
        there = f"bytes {start}-{len(BODY) - 1}/{len(BODY)}"
        part = BODY[start : start + len(BODY) // 9]
        said = {"Content_Range": there, "Content_Length": len(BODY) - start}
        request.say(206, part, **said)  # type: ignore[attr-defined]

    assert client.fetch(cut(BODY, 70_000, ETag=TAG), some) == DIGEST
    assert set(client.pauses) == {1.0}
    assert len(client.server.seen) > 9


def test_a_server_that_is_not_there_is_tried_again(client: Client) -> None:
    client.server.server_close()
    message = client.refused(url=client.server.url())
    assert "Connection refused; tried 5 times. Does " in message
    assert "https_proxy name a way out" in message


@pytest.mark.parametrize(
    ("to", "is_followed"),
    [
        ("/elsewhere", True),
        ("https://127.0.0.1:1/x", True),
        ("ftp://127.0.0.1/x", False),
        ("file:///etc/passwd", False),
    ],
)
def test_a_redirect_leads_to_the_web_alone(
    client: Client, to: str, is_followed: bool
) -> None:
    moved = code(302, Location=to)
    if to.startswith("/"):
        assert client.fetch(moved, whole(BODY)) == DIGEST
        return
    message = client.refused(moved)
    assert ("tried 5 times" in message) == is_followed, message
    assert client.path.read_bytes() == b""


def test_https_is_never_left(client: Client) -> None:
    redirects = web._Redirects()
    request = web.urllib.request.Request("https://far/x")
    with pytest.raises(CopyFailed, match="never from https to http"):
        redirects.redirect_request(request, None, 302, "", {}, "http://far/x")


@pytest.mark.parametrize("url", ["http:///x", "http://a:port/x", "http://[/x", "http"])
def test_what_is_no_url_is_refused_at_once(client: Client, url: str) -> None:
    client.refused(url=url)
    assert client.pauses == []

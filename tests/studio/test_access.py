"""Who may talk to the studio: a token opens a session, other hosts and origins get no answer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tauform.studio.access import COOKIE, Guard

TOKEN = "a-token-of-some-length"
HOST = "127.0.0.1:8123"


def answer(guard: Guard, path: str = "/", query: str = "", kind: str = "http", **headers: str) -> dict[str, Any]:
    """What a request is answered with."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    raw = [(name.encode(), value.encode()) for name, value in {"host": HOST, **headers}.items()]
    asyncio.run(guard({"type": kind, "path": path, "query_string": query.encode(), "headers": raw}, receive, send))
    start = sent[0]
    return {"status": start.get("status", start["type"]), "headers": dict(start.get("headers", ()))}


async def inside(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})


@pytest.fixture
def guard() -> Guard:
    return Guard(inside, TOKEN, 1000)


def opened(guard: Guard) -> str:
    """The cookie of a session that the token opened."""
    found = answer(guard, query=f"token={TOKEN}")
    assert found["status"] == 303
    cookie = found["headers"][b"set-cookie"].decode()
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    return cookie.split(";")[0]


def test_nobody_enters_without_the_token(guard: Guard) -> None:
    for query in ("", "token=", "token=wrong", f"token={TOKEN}x", "other=1"):
        assert answer(guard, query=query)["status"] == 403
    assert answer(guard, path="/mesh/0.stl", query=f"token={TOKEN}")["status"] == 403
    assert answer(guard, kind="websocket")["status"] == "websocket.close"


def test_the_token_opens_a_session_that_its_cookie_continues(guard: Guard) -> None:
    cookie = opened(guard)
    assert answer(guard, cookie=cookie)["status"] == 200
    assert answer(guard, cookie=f"{COOKIE}=guess")["status"] == 403
    assert answer(guard, cookie="x" * 10 + "=;;;=\x01")["status"] == 403


def test_sessions_of_two_browsers_differ(guard: Guard) -> None:
    assert opened(guard) != opened(guard)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8123", "10.0.0.1:8123", ""])
def test_other_names_of_the_machine_are_refused(guard: Guard, host: str) -> None:
    assert answer(guard, host=host, cookie=opened(guard))["status"] == 403


def test_other_pages_are_refused(guard: Guard) -> None:
    cookie = opened(guard)
    for origin in ("http://evil.example", "http://127.0.0.1:9999", "null"):
        assert answer(guard, cookie=cookie, origin=origin)["status"] == 403
        assert answer(guard, kind="websocket", cookie=cookie, origin=origin)["status"] == "websocket.close"
    assert answer(guard, cookie=cookie, origin=f"http://{HOST}")["status"] == 200


def test_a_request_that_brings_too_much_is_refused_unread(guard: Guard) -> None:
    cookie = opened(guard)
    lengths = {"1000": 200, "1001": 413, str(2 * 2**30): 413, "-1": 413, "x": 413}
    for length, status in lengths.items():
        assert answer(guard, cookie=cookie, **{"content-length": length})["status"] == status

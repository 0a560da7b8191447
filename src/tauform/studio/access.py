"""Access: who may talk to the studio. A token in the address opens a session; nobody else gets an answer."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "tauform_session"
# Names of this machine that a browser may use; any other name is somebody's trick to reach a local port.
HOSTS = ("127.0.0.1", "localhost", "[::1]")


class Guard:
    """ASGI middleware: a token once, then a cookie; the host must be this machine, the origin this page.

    Attributes:
        token: part of the address that the studio prints.
        sessions: those that were opened, one per browser.
        largest: bytes that a request may bring; the page refuses larger files itself, but need not be who asks.
    """

    def __init__(self, inside: Application, token: str, largest: int) -> None:
        self.inside, self.token, self.largest = inside, token, largest
        self.sessions: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Start and end of the server pass; they come from no browser.
        if scope["type"] not in ("http", "websocket"):
            return await self.inside(scope, receive, send)
        # Header names arrive in lower case, as ASGI says.
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        # Host and origin first: a page of another site may carry this browser's cookie.
        if not _is_local(headers.get("host", "")) or not _is_own(headers):
            return await _refuse(scope, send, "this address belongs to another page")
        if session_of(headers) in self.sessions:
            brought = headers.get("content-length", "0")
            # Before the body is read: it would fill the disk first.
            if not brought.isdigit() or int(brought) > self.largest:
                return await _refuse(scope, send, f"more than {self.largest // 2**20} MB at once", status=413)
            return await self.inside(scope, receive, send)
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        # compared in constant time: the time of an answer tells nothing about the token
        if scope["type"] == "http" and scope["path"] == "/" and secrets.compare_digest(given, self.token):
            return await self._open(send)
        return await _refuse(scope, send, "open the address that the studio printed, with its token")

    async def _open(self, send: Send) -> None:
        """Answer the token with a session, and an address without it: tokens do not stay in the history."""
        # 192 bits at random; nobody guesses a session.
        session = secrets.token_urlsafe(24)
        self.sessions.add(session)
        # Neither scripts nor other sites get at it.
        cookie = f"{COOKIE}={session}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"cache-control", b"no-store")]
        # 303: the browser asks again with GET, now without the token.
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def session_of(headers: MutableMapping[str, str]) -> str:
    """The session in a request's cookie; empty where there is none."""
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    # A malformed cookie is no session.
    except CookieError:
        return ""
    return cookies[COOKIE].value if COOKIE in cookies else ""


def _is_local(host: str) -> bool:
    # The port is cut off only where there is one: the colons of [::1] are part of the name.
    return (host.rsplit(":", 1)[0] if host.rsplit(":", 1)[-1].isdigit() else host) in HOSTS


def _is_own(headers: MutableMapping[str, str]) -> bool:
    """Whether a request comes from the studio's own page, or from the address bar."""
    origin = headers.get("origin")
    # Requests of the address bar have no origin; scripts of other sites always have theirs.
    return origin is None or urlsplit(origin).netloc == headers.get("host")


async def _refuse(scope: Scope, send: Send, why: str, status: int = 403) -> None:
    if scope["type"] == "websocket":
        # 1008: policy violation, the code of websockets for a refusal.
        await send({"type": "websocket.close", "code": 1008})
        return
    body = f"tauform studio: {why}.\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

"""Talks to the scheduler in a separate thread, so that training never waits for it.

While the scheduler is unreachable messages are queued, and sent in order later. If the queue is
full the oldest report is dropped. Uses only the standard library.
"""

from __future__ import annotations

import http.client
import logging
import random
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .credentials import Token, Trust, Where
from .environment import Environment
from .protocol import Answer, Checkpoint, Failure, Hello, Report, Welcome, decode, encode

KEPT = 256  # messages, while the scheduler is unreachable: two hours of reports at 30 s
TIMEOUT = 5.0  # seconds per request
BACKOFF = (0.25, 30.0)  # seconds, first and maximum
ANSWER_BYTES = 65536

log = logging.getLogger("oxgang")

Post = Callable[[str, bytes], tuple[int, float, bytes]]  # path, body -> status, Retry-After, body


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=TIMEOUT)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def poster(env: Environment) -> Post:
    """Returns a function that posts to the scheduler, by its unix socket if set, else its URL.
    Files with a token, a URL or certificates are read again when they change."""
    where, token, trust = Where(env), Token(env), Trust(env.ca_file)

    def connect() -> http.client.HTTPConnection:
        if env.socket:
            return _UnixConnection(env.socket)
        url = where.parts()
        host = url.hostname or "127.0.0.1"
        if url.scheme == "https":
            return http.client.HTTPSConnection(host, url.port, timeout=TIMEOUT, context=trust.context())
        return http.client.HTTPConnection(host, url.port, timeout=TIMEOUT)

    def post(path: str, body: bytes) -> tuple[int, float, bytes]:
        headers = {"Authorization": "Bearer " + token.text(), "Content-Type": "application/json"}
        c = connect()
        try:
            c.request("POST", path, body, headers)
            r = c.getresponse()
            return r.status, _seconds(r.getheader("Retry-After")), r.read(ANSWER_BYTES)
        finally:
            c.close()

    return post


def _seconds(text: str | None) -> float:
    return min(float(text), 60.0) if text and text.isdecimal() else 0.0


@dataclass(eq=False)
class _Message:
    path: str
    body: bytes
    droppable: bool


class Agent:
    """Sends messages in order and keeps the answers.

    fenced: another generation owns the job; this one must not write any more.
    """

    def __init__(self, post: Post, generation: int) -> None:
        self._post, self._generation = post, generation
        self._queue: deque[_Message] = deque()
        self._changed = threading.Condition()
        self._sequence = 0
        self._closing_until: float | None = None
        self._welcome: Welcome | None = None
        self._answer: Answer | None = None
        self.fenced = False
        self.refused = 0  # invalid messages or answers
        self._thread = threading.Thread(target=self._run, name="oxgang-agent", daemon=True)
        self._thread.start()

    def hello(self, hello: Hello) -> None:
        self._add("/v1/hello", hello, droppable=False)

    def report(self, report: Report) -> None:
        """Sends a report, with the next sequence number and this generation."""
        with self._changed:
            self._sequence += 1
            numbered = replace(report, sequence=self._sequence, generation=self._generation)
        self._add("/v1/report", numbered, droppable=True)

    def checkpoint(self, checkpoint: Checkpoint) -> None:
        self._add("/v1/checkpoint", replace(checkpoint, generation=self._generation), droppable=False)

    def welcome(self, timeout: float) -> Welcome | None:
        """Waits for the answer to hello, at most timeout seconds."""
        with self._changed:
            if timeout > 0:
                self._changed.wait_for(lambda: self._welcome is not None or self.fenced, timeout)
            return self._welcome

    def take_answer(self) -> Answer | None:
        """Returns the newest answer to a report, once."""
        with self._changed:
            answer, self._answer = self._answer, None
            return answer

    def waiting(self) -> int:
        """Messages that the scheduler has not accepted yet."""
        with self._changed:
            return len(self._queue)

    def close(self, timeout: float) -> bool:
        """Sends the remaining messages, for at most timeout seconds; returns whether all were
        accepted."""
        with self._changed:
            self._closing_until = time.monotonic() + timeout
            self._changed.notify_all()
        self._thread.join(timeout + 0.1)
        return self.waiting() == 0

    def _add(self, path: str, message: Any, droppable: bool) -> None:
        try:
            body = encode(message)
        except ValueError as e:
            self._refuse(f"{path[4:]} not sent: {e}")
            return
        with self._changed:
            if self.fenced:
                return
            if len(self._queue) >= KEPT:
                self._drop_oldest()
            self._queue.append(_Message(path, body, droppable))
            self._changed.notify_all()

    def _drop_oldest(self) -> None:
        victim = next((m for m in self._queue if m.droppable), self._queue[1])  # hello is kept
        self._queue.remove(victim)

    def _refuse(self, why: str) -> None:
        self.refused += 1
        log.log(logging.WARNING if self.refused == 1 else logging.DEBUG, "oxgang: %s", why)

    def _run(self) -> None:
        backoff = 0.0
        while (message := self._next()) is not None:
            pause = self._exchange(message)
            if pause is None:
                backoff = 0.0
                continue
            backoff = min(max(2 * backoff, BACKOFF[0]), BACKOFF[1])
            self._sleep(max(pause, backoff * random.uniform(0.5, 1)))

    def _next(self) -> _Message | None:
        """Waits for a message. None if the agent is closing and no message or no time is left."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._closing_until is not None)
            late = self._closing_until is not None and time.monotonic() >= self._closing_until
            return None if late or not self._queue else self._queue[0]

    def _sleep(self, seconds: float) -> None:
        """Waits before the next try. While closing, retries every 50 ms."""
        end = time.monotonic() + seconds
        with self._changed:
            self._changed.wait_for(lambda: self._closing_until is not None, seconds)
            if self._closing_until is not None:
                left = min(end, self._closing_until) - time.monotonic()
                self._changed.wait_for(lambda: False, max(0.0, min(0.05, left)))

    def _exchange(self, m: _Message) -> float | None:
        """Posts m. Returns None if m is finished, else the minimum pause before another try."""
        try:
            status, pause, body = self._post(m.path, m.body)
        except (OSError, http.client.HTTPException) as e:
            log.debug("oxgang: %s: %s", m.path, e)
            return 0.0
        if status == 409:
            self._fence(body)
            return None
        if status == 200:
            self._keep(m, body)
        elif status in (400, 413, 415, 422):
            self._refuse(f"{m.path[4:]} refused with {status}: {_reason(body)}")
        else:
            return pause  # 401, 404, 429, 5xx: may succeed later
        self._remove(m)
        return None

    def _fence(self, body: bytes) -> None:
        with self._changed:
            self.fenced = True
            self._queue.clear()
            self._changed.notify_all()
        log.warning("oxgang: this generation is over: %s", _reason(body))

    def _remove(self, m: _Message) -> None:
        with self._changed:
            if m in self._queue:
                self._queue.remove(m)
            self._changed.notify_all()

    def _keep(self, m: _Message, body: bytes) -> None:
        try:
            with self._changed:
                if m.path == "/v1/hello":
                    self._welcome = decode(Welcome, body)
                elif m.path == "/v1/report":
                    self._answer = decode(Answer, body)
        except ValueError as e:
            self._refuse(f"answer to {m.path[4:]}: {e}")


def _reason(body: bytes) -> str:
    try:
        return decode(Failure, body).error
    except ValueError:
        return repr(body[:200])

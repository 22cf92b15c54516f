"""Tokens, certificates and URLs that change while a job runs. Uses only the standard library."""

from __future__ import annotations

import os
import ssl
import urllib.parse

from .environment import Environment, check_url

TOKEN_BYTES = 16384


class Line:
    """A text, or a file with it that is read again whenever it changes."""

    def __init__(self, what: str, text: str, path: str) -> None:
        self._what, self._text, self._path = what, text, path
        self._seen: tuple[int, ...] = ()

    def text(self) -> str:
        """Returns the text; OSError if its file is unreadable or empty."""
        if not self._path:
            return self._text
        seen = stamp(self._path)
        if seen != self._seen:
            with open(self._path, "rb") as f:
                raw = f.read(TOKEN_BYTES + 1).strip()
            if not raw or len(raw) > TOKEN_BYTES or not raw.isascii() or not raw.decode("ascii").isprintable():
                raise OSError(f"{self._path}: want a {self._what} of 1 to {TOKEN_BYTES} printable bytes")
            self._text, self._seen = raw.decode("ascii"), seen
        return self._text


class Token(Line):
    """A bearer token."""

    def __init__(self, env: Environment) -> None:
        super().__init__("token", env.token, env.token_file)


class Where(Line):
    """The URL of a scheduler."""

    def __init__(self, env: Environment) -> None:
        super().__init__("URL", env.url, "" if env.url else env.url_file)

    def parts(self) -> urllib.parse.SplitResult:
        """Returns the URL; OSError if it is invalid or its file is unreadable."""
        text = self.text()
        try:
            check_url(self._path or "OXGANG_URL", text)
            parts = urllib.parse.urlsplit(text)
            _ = parts.port  # ValueError if invalid
        except ValueError as e:
            raise OSError(str(e)) from None
        return parts


class Trust:
    """The certificates to verify a server with; a file is read again whenever it changes."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._context: ssl.SSLContext | None = None
        self._seen: tuple[int, ...] = ()

    def context(self) -> ssl.SSLContext:
        """Returns the TLS context; OSError if the file is unreadable or has no certificate."""
        seen = stamp(self._path) if self._path else ()
        if self._context is None or seen != self._seen:
            self._context = ssl.create_default_context(cafile=self._path or None)
            self._seen = seen
        return self._context


def stamp(path: str) -> tuple[int, ...]:
    """Returns a value that changes when a file is rewritten or replaced."""
    s = os.stat(path)
    return s.st_dev, s.st_ino, s.st_mtime_ns, s.st_size

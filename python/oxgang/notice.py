"""A notice tells this generation to end: by SIGTERM, by the notice file, or in an answer of the
scheduler. Training obeys it at the next step boundary."""

from __future__ import annotations

import json
import logging
import os
import signal
import threading
from typing import Any

from .protocol import Notice, number

EXIT = 75  # EX_TEMPFAIL: stopped on notice after a checkpoint, to be started again

log = logging.getLogger("oxgang")


class Watch:
    """Watches for a notice to this process.

    The signal handler only sets a flag, because it may run between any two bytecodes.
    """

    def __init__(self, path: str = "") -> None:
        self._path = path
        self._flag = False
        self._told: Notice | None = None
        self._previous: Any = None
        self._installed = False

    def install(self) -> None:
        """Sets the handler of SIGTERM. Python allows that only in the main thread. In other
        threads a notice comes by the file or the scheduler's answers."""
        if threading.current_thread() is not threading.main_thread():
            log.warning("oxgang.init is not in the main thread: SIGTERM is not taken as a notice")
            return
        self._previous = signal.signal(signal.SIGTERM, self._on_signal)
        self._installed = True

    def restore(self) -> None:
        """Restores the earlier handler of SIGTERM."""
        if self._installed and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self._previous or signal.SIG_DFL)
            self._installed = False

    def tell(self, notice: Notice) -> None:
        """Records a notice from an answer."""
        self._told = notice

    def seen(self) -> bool:
        """Whether there is a notice. Costs one stat of the notice file."""
        if self._flag or self._told is not None:
            return True
        self._flag = bool(self._path) and os.path.exists(self._path)
        return self._flag

    def notice(self) -> Notice | None:
        """Returns the notice; None if only a signal came."""
        return self._told or (read(self._path) if self._path else None)

    def _on_signal(self, signum: int, frame: Any) -> None:
        self._flag = True


def read(path: str) -> Notice | None:
    """Returns the content of a notice file; None if it is missing or unreadable."""
    try:
        with open(path, encoding="utf-8") as f:
            said = json.loads(f.read(65536))
        return Notice(float(number("deadline", said["deadline"])), str(said.get("reason", "")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None

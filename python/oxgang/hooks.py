"""What the hooks into training frameworks share: the part of a job that they need, and timing."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn, Protocol

import torch.distributed as dist

from .notice import EXIT


class Job(Protocol):
    """What a hook asks of a job. All ranks call every method, in the same order."""

    def report_step(self, samples: int, seconds: float, wait: float = 0.0) -> None:
        """Take note of one step of the optimiser: samples of all ranks, seconds without wait."""

    def should_stop(self) -> bool:
        """Return whether there is a notice; the same on all ranks."""

    def acknowledge(self, meta: Mapping[str, Any]) -> None:
        """Tell the scheduler that a checkpoint is durable."""


class Steps:
    """Times the steps of a framework's loop and reports them to a job.

    What lies between two steps counts as wait for data, unless pause says that it was not.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._began = 0.0
        self._ended: float | None = None
        self._wait = 0.0

    def begin(self) -> None:
        """A pass begins."""
        self._began = time.monotonic()
        self._wait = 0.0 if self._ended is None else self._began - self._ended

    def end(self, samples: int) -> None:
        """The pass of a step, of samples on all ranks, is over."""
        self._ended = time.monotonic()
        self._job.report_step(samples, self._ended - self._began, self._wait)

    def pause(self) -> None:
        """Something else came between: an evaluation, a checkpoint."""
        self._ended = None


def acknowledge(job: Job, path: Path, meta: Mapping[str, Any]) -> None:
    """Make a checkpoint that all ranks have written durable, and acknowledge it. Collective."""
    for each in [path, *path.rglob("*")] if path.is_dir() else [path]:
        _sync(each)
    _sync(path.parent)
    if dist.is_available() and dist.is_initialized():
        dist.barrier()
    job.acknowledge({**meta, "path": path.name})


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def leave() -> NoReturn:
    """End this process in the way that says: stopped on notice after a checkpoint."""
    raise SystemExit(EXIT)

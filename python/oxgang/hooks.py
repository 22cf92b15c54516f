"""What the hooks into training frameworks share: the part of a job that they need, and timing."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import Protocol

import torch.distributed as dist

from . import job as core
from ._checkpoint.files import sha256
from .following import Following
from .protocol import Batch


class Job(Protocol):
    """What a hook asks of a job. All ranks call every method, in the same order."""

    def begin(self, batch: Batch, step: int, steps: int, epochs: int) -> None:
        """Training begins at step of steps, and batch says how every step is cut."""

    def report_step(self, samples: int, seconds: float, wait: float = 0.0) -> None:
        """Take note of one step of the optimiser: samples of all ranks, seconds without wait."""

    def should_stop(self) -> bool:
        """Return whether there is a notice; the same on all ranks."""

    def acknowledge(
        self, step: int, epoch: int, path: str, size: int, seconds: float, checksum: str
    ) -> None:
        """Tell the scheduler that a checkpoint of size bytes is durable. Rank 0's word counts."""

    def close(self) -> None:
        """Training is over."""

    def leave(self) -> None:
        """End this process in the way that says: stopped on notice after a checkpoint."""


def of(job: Job | core.Job) -> Job:
    """Return what a hook needs of the job that oxgang.init made."""
    return Following(job) if isinstance(job, core.Job) else job


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

    def since(self) -> float:
        """Return the seconds since a step ended; 0 after a pause."""
        return 0.0 if self._ended is None else time.monotonic() - self._ended


def acknowledge(job: Job, path: Path, step: int, epoch: float, seconds: float) -> None:
    """Make a checkpoint that all ranks have written durable, and acknowledge it. Collective.

    The checksum is that of the lines of sha256sum for its files, in order of their names.
    """
    for each in (*_below(path), path.parent):
        _sync(each)
    if dist.is_available() and dist.is_initialized():
        dist.barrier()
    files = [p for p in _below(path) if p.is_file()]  # with those of slower ranks
    lines = "".join(f"{sha256(p)}  {p.relative_to(path.parent)}\n" for p in files)
    checksum = "sha256:" + hashlib.sha256(lines.encode()).hexdigest()
    size = sum(p.stat().st_size for p in files)
    job.acknowledge(step, int(epoch), path.name, size, seconds, checksum)


def _below(path: Path) -> list[Path]:
    return [path, *sorted(path.rglob("*"))] if path.is_dir() else [path]


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Shared by the hooks into training frameworks: the interface to a job, and timing."""

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
    """The part of a job that a hook uses. All ranks call every method, in the same order."""

    def begin(self, batch: Batch, step: int, steps: int, epochs: int) -> None:
        """Begin training at step of steps. batch says how every step is divided."""

    def report_step(self, samples: int, seconds: float, wait: float = 0.0) -> None:
        """Record one step of the optimiser: samples of all ranks, seconds without wait."""

    def should_stop(self) -> bool:
        """Return whether there is a notice; the same on all ranks."""

    def acknowledge(
        self, step: int, epoch: int, path: str, size: int, seconds: float, checksum: str
    ) -> None:
        """Tell the scheduler that a checkpoint of size bytes is durable. Only rank 0 sends it."""

    def close(self) -> None:
        """Training is over."""

    def leave(self) -> None:
        """End this process with the exit status for: stopped on notice after a checkpoint."""


def of(job: Job | core.Job) -> Job:
    """Return the hook's interface to the job that oxgang.init made."""
    return Following(job) if isinstance(job, core.Job) else job


class Steps:
    """Times the steps of a framework's loop and reports them to a job.

    The time between two steps counts as wait for data, unless pause was called.
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
        """Record a pass of samples on all ranks."""
        self._ended = time.monotonic()
        self._job.report_step(samples, self._ended - self._began, self._wait)

    def pause(self) -> None:
        """Exclude an evaluation or checkpoint from the wait for data."""
        self._ended = None

    def since(self) -> float:
        """Return the seconds since the last step; 0 after a pause."""
        return 0.0 if self._ended is None else time.monotonic() - self._ended


def acknowledge(job: Job, path: Path, step: int, epoch: float, seconds: float) -> None:
    """Make a checkpoint durable after all ranks have written it, and acknowledge it.
    Collective.

    The checksum is the digest of the sha256sum lines of its files, in order of their names.
    """
    for each in (*_below(path), path.parent):
        _sync(each)
    if dist.is_available() and dist.is_initialized():
        dist.barrier()
    files = [p for p in _below(path) if p.is_file()]  # including files of slower ranks
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

"""Divides a global batch among ranks, and among the passes of a rank.

A gradient is the mean over the global batch at any world size, because each micro-batch is
weighted by its share of the samples. So a step equals the step of a single process, except for
rounding (the order of additions) and for layers that use a whole micro-batch (batch norm).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .protocol import Batch, Limits, Regime


@dataclass(frozen=True)
class Micro:
    """One pass of one rank: samples [start, stop) of its global batch. A rank that has no
    sample left has start = stop. It still makes the pass, with weight 0, because the others
    exchange gradients with it."""

    start: int
    stop: int
    batch_start: int
    batch_stop: int
    first: bool
    last: bool

    @property
    def size(self) -> int:
        return self.stop - self.start

    @property
    def batch(self) -> int:
        """Samples of the global batch."""
        return self.batch_stop - self.batch_start

    @property
    def weight(self) -> float:
        """The factor of a mean loss over this micro-batch, so that the sum over ranks and
        passes is the mean over the global batch."""
        return self.size / self.batch


def cut(start: int, stop: int, world: int, rank: int, local: int) -> Iterator[Micro]:
    """Yields the passes of a rank over the global batch [start, stop). Every rank makes the
    same number of passes, with at most local samples each. Sizes differ by at most 1 within a
    rank and among the ranks of a pass."""
    size = stop - start
    passes = _ceil(_ceil(size, world), local)
    low, high = start + size * rank // world, start + size * (rank + 1) // world
    for p in range(passes):
        a, b = low + (high - low) * p // passes, low + (high - low) * (p + 1) // passes
        yield Micro(a, b, start, stop, p == 0, p == passes - 1)


class Plan:
    """The current batch sizes of a job on world replicas.

    The user sets the global batch: one size, or a schedule by epoch. For an adaptive job the
    scheduler chooses it within the limits. The scheduler always chooses the passes, up to
    limits.local_max.
    """

    def __init__(self, limits: Limits, schedule: Sequence[Regime] = (), world: int = 1) -> None:
        check(limits, schedule)
        self.limits, self.schedule, self.world = limits, tuple(schedule), world
        self.wanted = Batch()

    def total(self, epoch: int) -> int:
        """Samples of a global batch in an epoch."""
        if self.schedule:
            return batch_at(self.schedule, epoch)
        if not self.limits.adaptive or self.wanted.local == 0:
            return self.limits.init
        return min(max(self.limits.init, self.world * self.wanted.per_replica), self.limits.max)

    def local(self, epoch: int) -> int:
        """The maximum samples per pass of one replica in an epoch."""
        share = _ceil(self.total(epoch), self.world)
        return max(1, min(self.wanted.local or share, share, self.limits.local_max))

    def used(self, epoch: int) -> Batch:
        """The largest pass of a full global batch of an epoch."""
        share = _ceil(self.total(epoch), self.world)
        passes = _ceil(share, self.local(epoch))
        return Batch(_ceil(share, passes), passes - 1)

    def at_local(self, local: int, epoch: int) -> Batch:
        """The batch that keeps the global batch of an epoch, in passes of local samples."""
        return Batch(local, _ceil(_ceil(self.total(epoch), self.world), local) - 1)


def check(limits: Limits, schedule: Sequence[Regime]) -> None:
    """Raises ValueError if training with these batch sizes is impossible."""
    if limits.init < 1:
        raise ValueError(f"batch size {limits.init}, want at least 1")
    if limits.max < limits.init:
        raise ValueError(f"max_batch_size {limits.max}, want at least the batch size {limits.init}")
    if limits.local_max < 1:
        raise ValueError(f"local_max {limits.local_max}, want at least 1")
    if limits.adaptive and schedule:
        raise ValueError("a schedule and adaptive=True, want one of them: either says the batch sizes")
    for i, r in enumerate(schedule):
        if r.batch_size < 1 or r.epochs < 1:
            raise ValueError(f"schedule entry {i + 1}: batch size {r.batch_size} for {r.epochs} epochs, want at least 1 each")


def batch_at(schedule: Sequence[Regime], epoch: int) -> int:
    """The batch size of an epoch, counted from 0. The last size of the schedule applies to all
    later epochs."""
    for r in schedule:
        epoch -= r.epochs
        if epoch < 0:
            return r.batch_size
    return schedule[-1].batch_size


def _ceil(a: int, b: int) -> int:
    return -(-a // b)

"""Exchanges a few numbers among all ranks at every step, in one small all-reduce on the host.

The exchange begins with the last pass of a step and is read at its end, so compute hides it. At
the end of a step all ranks know what each rank knew when that pass began.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import torch.distributed as dist

STEP, CHECK = 1.0, 2.0  # kinds of boundary


class Row(NamedTuple):
    """The numbers of one rank. For fenced, due, local, accumulation, every and timed only rank
    0's value is used."""

    kind: float
    notice: float
    fenced: float  # another generation owns the job
    due: float  # a checkpoint is due
    local: float  # wanted batch
    accumulation: float
    every: float  # steps from one measurement of gradients to the next
    timed: float = 0.0  # the next step is to be timed
    sqr_sum: float = 0.0  # noise.Parts of the last measured step
    inverse_sum: float = 0.0
    parts: float = 0.0
    big_sqr: float = 0.0
    samples: float = 0.0
    step_time: float = 0.0  # seconds of the pass with exchange, timing.LATE steps before; 0: not timed
    sync_time: float = 0.0
    wait_time: float = 0.0


class Control:
    """Exchanges rows among the ranks, in a separate gloo group."""

    def __init__(self, rank: int, world: int) -> None:
        self._rank, self._world = rank, world
        self._group: Any = dist.new_group(backend="gloo") if world > 1 else None
        self._table = torch.zeros(world, len(Row._fields), dtype=torch.float64)
        self._work: Any = None
        self._own: Row | None = None

    def launch(self, row: Row) -> None:
        """Sends this rank's row; collective."""
        self._own = row
        if self._world > 1:
            self._table.zero_()
            self._table[self._rank] = torch.tensor(row, dtype=torch.float64)
            self._work = dist.all_reduce(self._table, group=self._group, async_op=True)

    def wait(self) -> list[Row]:
        """Returns the rows of all ranks, by rank. RuntimeError if ranks are at different
        boundaries."""
        assert self._own is not None
        if self._world == 1:
            return [self._own]
        self._work.wait()
        rows = [Row(*r) for r in self._table.tolist()]
        kinds = {r.kind for r in rows}
        if len(kinds) > 1:
            calls = ", ".join(f"rank {i} in {'step' if r.kind == STEP else 'check'}" for i, r in enumerate(rows))
            raise RuntimeError(f"{calls}: want job.check() and job.step() called in the same order on all ranks")
        return rows

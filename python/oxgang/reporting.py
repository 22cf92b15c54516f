"""Rank 0's reports. Each has means over an interval with one way to divide the batch. The job
begins with a ladder of local batch sizes that the scheduler wants measured."""

from __future__ import annotations

import time
from collections.abc import Sequence

from .agent import Agent
from .batching import Plan
from .loader import Position
from .noise import Noise
from .protocol import Batch, Notice, Report, Welcome
from .timing import Times

WARM_UP = 2  # steps after a change that are not measured: cold caches, kernels being tuned
RUNG = 3  # measured steps at each local size of the ladder
SECONDS = 30.0  # between reports, unless the scheduler sets it
BOUNDS = (0.1, 3600.0)  # range that the scheduler may set


class Reporter:
    """Measures steps and reports. `want` is how the job should divide the batch."""

    def __init__(self, agent: Agent, plan: Plan, position: Position, noise: Noise) -> None:
        self._agent, self._plan, self._position, self._noise = agent, plan, position, noise
        self._seconds = SECONDS
        self._ladder: list[int] = []
        self._climbed: list[Batch] = []  # ways to divide the batch in earlier rungs
        self._scheduled = Batch()
        self._greeted = False
        self._since = time.monotonic()
        self._batch: Batch | None = None  # of the steps since
        self._skipped, self._times = 0, [0.0, 0.0, 0.0]
        self._count = 0
        self._told = position.step  # reported so far
        self.want = Batch()
        self.notice: Notice | None = None  # from an answer

    def greet(self, welcome: Welcome | None) -> None:
        """Handles the answer to hello, if it has come."""
        if welcome is None or self._greeted:
            return
        self._greeted = True
        self._seconds = min(max(welcome.report_seconds, BOUNDS[0]), BOUNDS[1])
        self._scheduled = welcome.batch
        self._ladder = sorted(welcome.profile)
        self._next()

    def observe(self, times: Times, batch: Batch | None) -> None:
        """Records the times of one step, and how its batch was divided. None means a different
        batch: the smaller last one of an epoch. Reports if it is due."""
        if batch is None:
            return
        if batch != self._batch:
            self.report()
            self._batch, self._skipped = batch, 0
        if self._skipped < WARM_UP:
            self._skipped += 1
            self._start()
            return
        self._times = [a + b for a, b in zip(self._times, (times.step, times.sync, times.wait), strict=True)]
        self._count += 1
        due = time.monotonic() - self._since >= self._seconds
        self._climb(due)
        if due:
            self.report()

    def report(self, profile: bool = False) -> None:
        """Reports the steps since the last report, if any were measured."""
        if self._count > 0 and self._batch is not None:
            self._say(self._batch, [t / self._count for t in self._times], profile)

    def close(self) -> None:
        """Reports the rest, including progress in steps that were not measured."""
        self.report()
        if self._batch is not None and self._position.step > self._told:
            self._say(self._batch, [0.0, 0.0, 0.0], profile=False)

    def _say(self, batch: Batch, means: list[float], profile: bool) -> None:
        step, sync, wait = means
        sqr, var = self._noise.statistics()
        p = self._position
        self._agent.report(Report(
            0, 0, p.step, float(p.progress), p.epoch, time.monotonic() - self._since, batch,
            step, min(sync, step), wait, sqr, var, profile))
        self._told = p.step
        self._start()

    def _start(self) -> None:
        self._since, self._times, self._count = time.monotonic(), [0.0, 0.0, 0.0], 0

    def listen(self) -> None:
        """Handles the scheduler's answers."""
        if not self._greeted:
            self.greet(self._agent.welcome(0))
        answer = self._agent.take_answer()
        if answer is not None:
            self._scheduled, self.notice = answer.batch, answer.notice or self.notice
            if not self._ladder:
                self.want = answer.batch

    def _climb(self, due: bool) -> None:
        """Leaves a rung after enough measured steps, or when a report is due: with long steps
        one is enough."""
        if self._ladder and (due or self._count >= RUNG) and self._batch == self._rung(self._ladder[0]):
            self._climbed.append(self._batch)
            self.report(profile=True)
            self._ladder.pop(0)
            self._next()

    def _next(self) -> None:
        """Goes to the next rung that divides the batch in a new way."""
        while self._ladder and (self._ladder[0] < 1 or self._rung(self._ladder[0]) in self._climbed):
            self._ladder.pop(0)
        epoch = self._position.epoch
        self.want = self._base().at_local(self._ladder[0], epoch) if self._ladder else self._scheduled

    def _rung(self, local: int) -> Batch:
        epoch = self._position.epoch
        return self._with(self._base().at_local(local, epoch)).used(epoch)

    def _base(self) -> Plan:
        return self._with(self._scheduled)

    def _with(self, wanted: Batch) -> Plan:
        plan = Plan(self._plan.limits, self._plan.schedule, self._plan.world)
        plan.wanted = wanted
        return plan


def cover(schedule: Sequence[tuple[int, int]], epochs: int) -> list[tuple[int, int]]:
    """A user's schedule of (batch size, epochs), shortened or extended to cover all epochs."""
    left, covered = epochs, []
    for batch, length in schedule:
        if left > 0:
            covered.append((batch, min(length, left)))
            left -= length
    if covered and left > 0:
        covered[-1] = (covered[-1][0], covered[-1][1] + left)
    return covered

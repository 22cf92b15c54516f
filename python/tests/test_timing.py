"""Times of steps are read late enough that a GPU has something to do meanwhile, and not of all short ones."""

from __future__ import annotations

import random
import statistics
import time
from typing import Any

import pytest
import torch
from oxgang.timing import GAP, NOT_TIMED, Pace, StepTimer, Times


class Queue:
    """A GPU that works on what it is told in order, and has ended all but the last step that was begun."""

    def __init__(self) -> None:
        self.told = 0
        self.begun = 0

    def mark(self) -> int:
        """Queue an event."""
        self.told += 1
        return self.told

    def seconds(self, start: int, end: int) -> float:
        """Return the time between events, of which the last may not be one of the step that is under way."""
        assert end < self.begun, "the host waits for a step behind which nothing is queued"
        return float(end - start)


def test_reads_no_step_behind_which_nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    timer = StepTimer(torch.device("cpu"))
    queue: Any = Queue()
    monkeypatch.setattr(timer, "_marks", queue)
    seen = []
    for passes in (1, 2, 3, 4):
        seen.append(timer.last())  # where the row of a step is sent
        begun = queue.told
        for i in range(passes):
            timer.begin(0.0)
            timer.end(stepped=i == passes - 1)
        queue.begun = begun + 1  # of the next step nothing is queued yet when its row is sent
    assert [t.step for t in seen] == [0, 0, 1, 1]
    assert seen[0] == Times()


class Clock:
    """A clock that each reading moves on by a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def mark(self) -> float:
        """Return the time, which passes."""
        self.now += 1.0
        return self.now

    def seconds(self, start: float, end: float) -> float:
        """Return the time between marks."""
        return end - start


def test_a_step_between_those_that_are_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs the only marks, and its times are its own: neither the wait nor the gap of those before it counts."""
    timer = StepTimer(torch.device("cpu"))
    clock: Any = Clock()
    monkeypatch.setattr(timer, "_marks", clock)
    timer.end(stepped=True, following=False)
    begun = clock.now
    for following in (False, True, False, False):
        timer.begin(wait=20.0 if timer.timing else 100.0)
        timer.ready()
        timer.reduced()
        timer.end(stepped=True, following=following)
        clock.now += 10 if timer.timing else 0  # from the step before
    # the end of the one before, ten seconds, then begin, ready, reduced and end of the timed one
    assert clock.now - begun == 1 + 10 + 4
    assert timer.last() == Times(step=3.0, sync=1.0, wait=11.0) and timer.recent == 3.0
    timer.begin(0.0)
    timer.end(stepped=True, following=False)
    assert timer.last() is NOT_TIMED and timer.recent == 3.0


def timed_steps(pace: Pace, clock: list[float], lengths: list[float]) -> list[float]:
    """Return the times of those of some steps that are timed; it is said in the one before."""
    timed, timing = [], False
    for length in lengths:
        timing, was = pace.due(), timing
        timed += [length] if was else []
        clock[0] += length
    return timed


def lengths(kind: str, length: float, count: int) -> list[float]:
    """Return times of steps: each tenth four times as long, or bursts of slow ones by chance."""
    if kind == "regular":
        return [length * (4 if i % 10 == 0 else 1) for i in range(count)]
    chance, slow, all_ = random.Random(1), False, []
    for _ in range(count):
        slow = chance.random() < (0.95 if slow else 0.005)
        all_.append(length * (10 if slow else 1))
    return all_


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands still."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize("kind", ["regular", "bursts"])
@pytest.mark.parametrize("length", [0.0005, GAP / 26, 0.002, 0.013])  # GAP / 26: each tenth, and about each twentieth timed
def test_pace_of_short_steps(clock: list[float], kind: str, length: float) -> None:
    """About one in GAP seconds is timed, and the mean of those is that of all steps."""
    of = lengths(kind, length, 200000)
    timed = timed_steps(Pace(), clock, of)
    assert 0.5 < len(timed) / (sum(of) / GAP) < 1.1
    assert statistics.mean(timed) == pytest.approx(statistics.mean(of), rel=0.1)


def test_pace_of_long_steps_and_changes(clock: list[float]) -> None:
    """Steps of GAP and more are all timed; where steps get longer, the next after LONGEST is; and after
    a restart all are."""
    assert len(timed_steps(Pace(), clock, [GAP] * 500)) == 499
    pace = Pace()
    timed_steps(pace, clock, [0.0001] * 20000)
    assert len(timed_steps(pace, clock, [0.0001] * 4000)) < 30
    assert len(timed_steps(pace, clock, [0.6] * 21)) >= 9
    timed_steps(pace, clock, [0.0001] * 200000)
    pace.restart()
    assert len(timed_steps(pace, clock, [0.0001] * 21)) == 20

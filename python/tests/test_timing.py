"""Times of steps are read late enough that a GPU has something to do meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from oxgang.timing import StepTimer, Times


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

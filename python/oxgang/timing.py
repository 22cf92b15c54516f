"""Measures passes, the gradient exchange in them, and the wait for data.

Timing a step costs the host a fixed time, about 0.2 ms on a GPU. So of steps shorter than GAP
only some are timed, the same on all ranks: `Pace` chooses them.

On a GPU the host runs ahead, so marks are CUDA events. They are read when another step is
queued: an earlier read would make the host wait for the GPU. On a CPU marks are readings of the
clock. Only the visible part of the exchange counts: from the last gradient of this rank to the
end of backward. On fast ranks it includes waiting for others, so the shortest exchange of all
ranks is used.
"""

from __future__ import annotations

import random
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

import torch

LATE = 2  # steps, from the end of a step to the reading of its times
GAP = 0.04  # seconds between timed steps on average, if steps are shorter
LONGEST = 1.0  # seconds, at most, if steps get longer
ENOUGH = 32  # timed steps between updates of the number of steps in a GAP


class Marks:
    """Marks points in time in a device's work, and returns seconds between them."""

    def __init__(self, device: torch.device) -> None:
        self._cuda = device.type == "cuda"

    def mark(self) -> Any:
        if not self._cuda:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        event.record()
        return event

    def seconds(self, start: Any, end: Any) -> float:
        """Waits for end, on a GPU."""
        if not self._cuda:
            return float(end - start)
        end.synchronize()
        return float(start.elapsed_time(end)) / 1e3


@dataclass(frozen=True)
class Times:
    """Seconds of one optimiser step."""

    step: float = 0.0  # its pass with exchange, optimiser included
    sync: float = 0.0
    wait: float = 0.0


NOT_TIMED = Times()


class Pace:
    """Chooses the steps to time: the first, and then one in n, so that they are GAP apart on
    average. Choosing by the clock would time too many slow steps. The choice is random, so that
    steps which are slow at regular intervals are timed as often as they occur."""

    def __init__(self) -> None:
        self._chance = random.Random(0)
        self.restart()

    def restart(self) -> None:
        """Time every step for a while: step times may have changed."""
        self._apart, self._left, self._latest = 1.0, 0, 0.0  # steps, steps, seconds
        self._since, self._steps, self._timed = time.monotonic(), -1, 0  # the first call begins a step, and ends none

    def due(self) -> bool:
        """Whether to time the next step. Call it once per step."""
        now = time.monotonic()
        self._steps += 1
        self._left -= 1
        if self._left > 0 and now < self._latest:
            return False
        self._timed += 1
        if self._timed == ENOUGH:
            self._apart = max(1.0, GAP * self._steps / max(now - self._since, 1e-9))
            self._since, self._steps, self._timed = now, 0, 0
        left = 1 + (self._apart - 1) * self._chance.uniform(0.5, 1.5)
        self._left = int(left + self._chance.random())
        self._latest = now + LONGEST
        return True


class StepTimer:
    """Times the passes of a step. `last` returns the times of the step LATE steps before."""

    def __init__(self, device: torch.device) -> None:
        self._marks = Marks(device)
        self._begin: Any = None
        self._ready: Any = None
        self._reduced: Any = None
        self._end: Any = None
        self._gaps: list[tuple[Any, Any]] = []  # ends and beginnings of passes
        self._host_wait = 0.0
        self._done: deque[tuple[Any, ...] | None] = deque(maxlen=LATE)  # None: not timed
        self.timing = True  # the current or next step
        self.recent = 0.0  # seconds of the step that was read last

    def begin(self, wait: float) -> None:
        """A pass begins, after wait seconds for its data."""
        if not self.timing:
            return
        self._begin, self._ready, self._reduced = self._marks.mark(), None, None
        self._host_wait += wait
        if self._end is not None:
            self._gaps.append((self._end, self._begin))

    def ready(self) -> None:
        """The last gradient of this rank is computed; the rest is exchange."""
        if self.timing:
            self._ready = self._marks.mark()

    def reduced(self) -> None:
        """Backward has ended; ignored if nothing was exchanged."""
        if self._ready is not None:
            self._reduced = self._marks.mark()

    def end(self, stepped: bool, following: bool = True) -> None:
        """A pass has ended, with the optimiser's part if it stepped. following: the next step
        is timed and needs the end of this one."""
        if self.timing or (stepped and following):
            self._end = self._marks.mark()
        if stepped:
            times = (self._begin, self._ready, self._reduced, self._end, self._host_wait, self._gaps)
            self._done.append(times if self.timing else None)
            self._host_wait, self._gaps, self._ready, self.timing = 0.0, [], None, following

    def last(self) -> Times:
        """The times of the step before the last; NOT_TIMED if it was not timed."""
        if len(self._done) < LATE or (done := self._done[0]) is None:
            return NOT_TIMED
        begin, ready, reduced, end, host_wait, gaps = done
        seconds = self._marks.seconds
        sync = seconds(ready, reduced) if ready is not None and reduced is not None else 0.0
        idle = sum(seconds(a, b) for a, b in gaps) if gaps else host_wait
        self.recent = seconds(begin, end)
        return Times(self.recent, max(sync, 0.0), min(host_wait, max(idle, 0.0)))

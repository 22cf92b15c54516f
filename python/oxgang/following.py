"""A job whose training loop belongs to a framework. The client learns of steps when they are
done.

The framework loads the data, saves the checkpoints and divides the batches. So the scheduler
gets one fixed batch size and no gradient noise.
"""

from __future__ import annotations

from .batching import Plan
from .control import CHECK, Row
from .job import WELCOME, Job
from .loader import Position
from .noise import Noise
from .notice import EXIT
from .protocol import Batch, Checkpoint, Hello, Limits
from .reporting import Reporter
from .timing import Times
from .version import CLIENT


class Following:
    """Reports steps of a framework's loop for a job, and says when to stop."""

    def __init__(self, job: Job) -> None:
        self._job, self._position = job, Position()
        self._agent = job._agent
        self._reporter: Reporter | None = None
        self._batch = Batch()

    def begin(self, batch: Batch, step: int, steps: int, epochs: int) -> None:
        """Say hello. batch is how one replica's share of each step is divided."""
        total = batch.per_replica * self._job.world
        self._batch = batch
        self._position = Position(step=step, progress=float(step * total))
        if self._agent is None:
            return
        limits = Limits(total, total, 1, batch.local, False)
        plan = Plan(limits, (), self._job.world)
        plan.wanted = batch
        generation, world = self._job.env.generation, self._job.world
        self._agent.hello(
            Hello(CLIENT, generation, world, limits, (), epochs, float(steps * total), None, 0.0)
        )
        self._reporter = Reporter(self._agent, plan, self._position, Noise(total))
        self._reporter.greet(self._agent.welcome(WELCOME))

    def report_step(self, samples: int, seconds: float, wait: float = 0.0) -> None:
        """Record a step. All its passes are assumed to take the same time, with or without
        exchange."""
        self._position.step += 1
        self._position.progress += samples
        if self._reporter is None:
            return
        full = samples == self._batch.per_replica * self._job.world
        times = Times(seconds / (self._batch.accumulation + 1), 0.0, wait)
        self._reporter.observe(times, self._batch if full else None)

    def should_stop(self) -> bool:
        """Return whether any rank has a notice. Exits if a newer generation owns the job."""
        watch = self._job._watch
        if self._reporter is not None:
            self._reporter.listen()
            if self._reporter.notice is not None:
                watch.tell(self._reporter.notice)
        fenced = self._agent is not None and self._agent.fenced
        self._job._control.launch(Row(CHECK, watch.seen(), fenced, 0, 0, 0, 0))
        rows = self._job._control.wait()
        if rows[0].fenced:
            self._job._leave_fenced()
        return any(bool(row.notice) for row in rows)

    def acknowledge(
        self, step: int, epoch: int, path: str, size: int, seconds: float, checksum: str
    ) -> None:
        """Tell the scheduler that a checkpoint is durable."""
        if self._agent is not None:
            progress = float(self._position.progress)
            self._agent.checkpoint(
                Checkpoint(0, step, progress, epoch, size, seconds, path, checksum)
            )

    def close(self) -> None:
        """Send the last report."""
        if self._reporter is not None:
            self._reporter.report()
        self._job.close()

    def leave(self) -> None:
        """End this process after a checkpoint."""
        if self._reporter is not None:
            self._reporter.report()
        self._job._leave(EXIT)

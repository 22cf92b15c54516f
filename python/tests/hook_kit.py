"""A job that says stop after some steps and remembers what it was told."""

from __future__ import annotations

from typing import Any


class FakeJob:
    """Has the methods of a job that hooks need."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.stop_after = stop_after
        self.steps: list[tuple[int, float, float]] = []
        self.acknowledged: list[dict[str, Any]] = []
        self.begun: tuple[int, int, int, int] | None = None
        self.closed = False

    def report_step(self, samples: int, seconds: float, wait: float = 0.0) -> None:
        self.steps.append((samples, seconds, wait))

    def should_stop(self) -> bool:
        return len(self.steps) == self.stop_after

    def begin(self, batch: Any, step: int, steps: int, epochs: int) -> None:
        self.begun = (batch.local, batch.accumulation, step, steps)

    def acknowledge(
        self, step: int, epoch: int, path: str, size: int, seconds: float, checksum: str
    ) -> None:
        assert size > 0
        assert checksum.startswith("sha256:")
        assert 0 < seconds < 60
        self.acknowledged.append({"step": step, "path": path, "bytes": size})

    def close(self) -> None:
        self.closed = True

    def leave(self) -> None:
        raise SystemExit(75)


def check_times(job: FakeJob) -> None:
    """Every step took time, and waits are not counted in it."""
    assert all(0 < seconds < 60 and 0 <= wait < 60 for _, seconds, wait in job.steps)

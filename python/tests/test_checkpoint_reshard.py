"""A job that is restarted on other numbers of workers goes on from the same bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from checkpoint_worker import work
from conftest import run, values

SIZES = [1, 2, 4, 1]


def test_parameters_and_optimiser_state_are_bit_equal_at_any_size(tmp_path: Path) -> None:
    """DDP and FSDP2, 1 -> 2 -> 4 -> 1 workers, two steps of training at each size."""
    before: list[dict[str, Any]] = []
    for stage, size in enumerate(SIZES):
        answers = values(run(size, work, size, str(tmp_path), stage))
        for answer in answers:
            assert answer["loaded"] == (before[0]["saved"] if before else None)
            assert answer["saved"] == answers[0]["saved"]
        if before:
            _check_random(before, answers)
        if size > 1:
            want = "checkpoint: rank 1: ValueError: out of luck"
            assert [a["error"] for a in answers] == [want] * size
        before = answers
    assert len({before[0]["saved"][0], before[0]["loaded"][0]}) == 2  # training changed something


def _check_random(before: list[dict[str, Any]], now: list[dict[str, Any]]) -> None:
    """Ranks that were there go on where they were; the others differ from all."""
    for then, answer in zip(before, now, strict=False):
        assert answer["random"] == then["next"]
    assert len({answer["random"] for answer in now}) == len(now)

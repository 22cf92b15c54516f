"""A job whose loop is a framework's, against a scheduler."""

import oxgang
import pytest
import torch.distributed as dist
from conftest import run
from hook_kit import FakeJob
from oxgang.hooks import acknowledge, of
from oxgang.protocol import Batch


def _follow(rank, path):
    """Steps until there is a notice, and a checkpoint then."""
    job = of(oxgang.init())
    job.begin(Batch(4, 1), step=10, steps=100000, epochs=3)
    step = 10
    while not job.should_stop():
        job.report_step(8 * job._job.world, 0.02, 0.001)
        step += 1
    file = path / "step.bin"
    if rank == 0:
        file.write_bytes(b"x" * 100)
    acknowledge(job, path, step, 1, 0.5)
    job.leave()


@pytest.mark.parametrize("world", [1, 2])
def test_a_notice_in_an_answer_stops_all_ranks(scheduler, tmp_path, world):
    notice = {
        "batch": {"local": 0, "accumulation": 0},
        "notice": {"deadline": 4e9, "reason": "moved"},
    }
    s = scheduler(answer=notice)
    path = tmp_path / "checkpoint-1"
    path.mkdir()
    env = {
        "OXGANG_URL": s.url,
        "OXGANG_TOKEN": "secret",
        "OXGANG_JOB": "j",
        "OXGANG_GENERATION": "3",
    }
    assert run(world, _follow, path, env=env) == [("exit", 75)] * world
    (hello,), (report, *_), (checkpoint,) = (
        s.of(f"/v1/{p}") for p in ("hello", "report", "checkpoint")
    )
    total = 8 * world
    assert hello["batch"] == {
        "init": total,
        "max": total,
        "local_min": 1,
        "local_max": 4,
        "adaptive": False,
    }
    assert (hello["samples"], hello["epochs"], hello["generation"]) == (100000 * total, 3, 3)
    assert report["batch"] == {"local": 4, "accumulation": 1}
    assert (report["step_time"], report["wait_time"]) == (pytest.approx(0.01), pytest.approx(0.001))
    assert report["progress"] == report["step"] * total
    assert (checkpoint["bytes"], checkpoint["path"], checkpoint["epoch"]) == (
        100,
        "checkpoint-1",
        1,
    )
    assert checkpoint["checksum"].startswith("sha256:")
    assert checkpoint["progress"] == checkpoint["step"] * total


def test_files_of_a_slower_rank_are_in_the_acknowledgement(tmp_path, monkeypatch):
    path = tmp_path / "checkpoint-1"
    path.mkdir()
    (path / "rank0.bin").write_bytes(b"x" * 100)
    monkeypatch.setattr(dist, "is_initialized", lambda: True)
    monkeypatch.setattr(dist, "barrier", lambda: (path / "rank1.bin").write_bytes(b"x" * 10))
    job = FakeJob()
    acknowledge(job, path, 1, 0, 0.5)
    assert job.acknowledged == [{"step": 1, "path": "checkpoint-1", "bytes": 110}]


def test_without_a_scheduler_nothing_is_said(monkeypatch):
    monkeypatch.delenv("OXGANG_TOKEN", raising=False)
    job = of(oxgang.init())
    job.begin(Batch(4, 0), step=0, steps=10, epochs=1)
    job.report_step(4, 0.1)
    assert not job.should_stop()
    job.close()

"""Leaving the process group: what is still on the way then must not need Python any more."""

import sys
import weakref

import torch
import torch.distributed as dist
from conftest import run

from oxgang import environment, group


def held_after(rank, rounds):
    """Returns how many tensors of exchanges a thread of gloo had yet to let go of, of so many, and how many it still had
    once it was waited for. This thread keeps Python's lock, unless it lets go of it by itself."""
    group.join(environment.read({"RANK": str(rank), "WORLD_SIZE": "2"}), torch.device("cpu"))
    sys.setswitchinterval(1000)
    late = still = 0
    for _ in range(rounds):
        tensor = torch.ones(1)
        there = weakref.ref(tensor)
        work = dist.broadcast(tensor, 0, async_op=True)
        work.wait()
        del tensor, work
        if there() is not None:
            late += 1
            group.settle()
            still += there() is not None
    return late, still


def test_settle_waits_for_tensors_that_gloo_still_has():
    results = run(2, held_after, 200)
    assert all(kind == "result" for kind, _ in results), results
    late = sum(late for _, (late, _) in results)
    assert late >= 5, f"a thread was late with {late} of 400 tensors, want 5 at least"
    assert [still for _, (_, still) in results] == [0, 0]


def test_part_settles(monkeypatch):
    called = []
    monkeypatch.setattr(group, "settle", lambda: called.append(dist.is_initialized()))
    group.part()
    assert called == []
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    group.part()
    assert called == [False]

"""Kill -9 the writer of a checkpoint before each of its steps: python checkpoint_crash.py DIR [BUG].

A step is a system call that changes the directory or makes something durable, seen through audit
events and os.fsync. Each try is a fork, so that torch is imported once. Prints a line of JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import torch
from checkpoint_kit import fingerprint, training
from oxgang._checkpoint.shelf import Shelf
from oxgang.checkpoint import Checkpoints

EVENTS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "fcntl.flock"}


def die_before(step: int, root: Path) -> None:
    """Kill this process before its step-th step in root, counted from 0."""
    left = [step]

    def count() -> None:
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event in EVENTS and (event == "fcntl.flock" or str(arguments[0]).startswith(str(root))):
            count()

    fsync = os.fsync

    def synced(descriptor: int) -> None:
        count()
        fsync(descriptor)

    os.fsync = synced
    sys.addaudithook(audit)


def attempt(step: int | None, root: Path, number: int) -> bool:
    """Save checkpoint number in a fork that dies before step; return whether it lived."""
    child = os.fork()
    if child == 0:
        if step is not None:
            die_before(step, root)
        try:
            Checkpoints(root, keep=1).save(training(steps=number), {"number": number})
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return False
    return True


def inspect(root: Path, prints: dict[int, str]) -> int:
    """Return the number of the checkpoint that is there; it must be whole and the newest."""
    state = training(seed=1, steps=0)
    loaded = Checkpoints(root, keep=1).load(state)
    assert loaded is not None, "nothing is left"
    assert loaded.passed_over == (), loaded.passed_over
    number: int = loaded.meta["number"]
    assert fingerprint(state) == prints[number]
    return number


def in_place() -> None:
    """Seeded bug: writes under the final name."""

    def begin(self: Shelf) -> Path:
        path = self.directory / "g00000-00000002"
        path.mkdir(parents=True)
        return path

    Shelf.begin = begin  # type: ignore[method-assign]
    Shelf.publish = lambda self, temporary: temporary  # type: ignore[method-assign]


def prune_first() -> None:
    """Seeded bug: makes room before the new checkpoint is there."""
    begin = Shelf.begin

    def hasty(self: Shelf) -> Path:
        for entry in self.published():
            shutil.rmtree(self.path(entry))
        return begin(self)

    Shelf.begin = hasty  # type: ignore[method-assign]


def main(root: Path, bug: str) -> None:
    torch.set_num_threads(1)
    prints = {n: fingerprint(training(steps=n)) for n in (1, 2, 3)}
    if bug:
        Checkpoints(root / "base").save(training(steps=1), {"number": 1})
        {"in-place": in_place, "prune-first": prune_first}[bug]()
    seen: list[int] = []
    lived, step = False, 0
    while not lived:
        job = root / str(step)
        if bug:
            shutil.copytree(root / "base", job)
        else:
            attempt(None, job, 1)
        lived = attempt(step, job, 2)
        seen.append(inspect(job, prints))
        if not bug:
            assert attempt(None, job, 3)
            assert inspect(job, prints) == 3
            assert len(os.listdir(job)) == 1, os.listdir(job)
        step += 1
    print(json.dumps({"seen": seen}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")

"""The device and the process group of a worker."""

from __future__ import annotations

import atexit
import time
from pathlib import Path

import torch
import torch.distributed as dist

from .environment import Environment


def device(env: Environment) -> torch.device:
    """Returns this worker's device: by local rank, or the only GPU that it sees."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    index = env.local_rank if env.local_rank < torch.cuda.device_count() else 0
    torch.cuda.set_device(index)
    return torch.device("cuda", index)


def join(env: Environment, on: torch.device) -> None:
    """Joins the process group of a job with several ranks, if the program has not."""
    if env.world == 1 or dist.is_initialized():
        return
    gloo = on.type != "cuda" or env.shared_gpu
    dist.init_process_group("gloo" if gloo else "nccl", rank=env.rank, world_size=env.world)
    atexit.register(part)


def part() -> None:
    """Leaves the process group, if there is one."""
    if dist.is_available() and dist.is_initialized():
        dist.destroy_process_group()
        settle()


def settle(most: float = 1.0) -> None:
    """Waits until gloo's threads have released the tensors of finished exchanges, at most so
    many seconds.

    They need Python's lock for that. A thread that still waits for the lock when the
    interpreter ends aborts the process, so that a finished job ends with SIGABRT (PyTorch issue
    190489). This releases the lock until two consecutive checks find all threads asleep.
    """
    end, calm = time.monotonic() + most, 0
    while calm < 2 and time.monotonic() < end:
        time.sleep(0.005)
        calm = 0 if _busy() else calm + 1


def _busy() -> bool:
    """Whether a thread of gloo is running or runnable; False without /proc."""
    for task in Path("/proc/self/task").glob("*/stat"):
        try:
            _, name, state = task.read_text().replace("(", ")").split(")", 2)
        except OSError:  # it has ended
            continue
        if name == "pt_gloo_runloop" and state.split()[0] == "R":
            return True
    return False

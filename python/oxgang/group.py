"""The device and the process group of a worker."""

from __future__ import annotations

import atexit

import torch
import torch.distributed as dist

from .environment import Environment


def device(env: Environment) -> torch.device:
    """Returns this worker's device: of the GPUs that it sees, its own or the only one."""
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

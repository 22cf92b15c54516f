"""What the environment variables of a worker say."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from .protocol import LARGEST, number


@dataclass(frozen=True)
class Environment:
    """A worker's place in its job, and where its scheduler is. The zero value is a
    program that runs alone."""

    rank: int = 0
    local_rank: int = 0
    world: int = 1
    job: str = ""
    generation: int = 0
    socket: str = ""  # path of the scheduler's unix socket
    url: str = ""  # http://127.0.0.1:PORT
    token: str = ""
    checkpoints: str = ""  # directory
    notice: str = ""  # path of the notice file
    cpus: float = 0.0  # cores of this worker; 0: not said
    memory: int = 0  # bytes of this worker; 0: not said
    shared_gpu: bool = False  # with other workers

    @property
    def scheduled(self) -> bool:
        """Whether there is a scheduler to talk to."""
        return bool(self.token and (self.socket or self.url))


def read(env: Mapping[str, str] = os.environ) -> Environment:
    """Returns what env says; ValueError names the variable that is wrong."""
    e = Environment(
        rank=_whole(env, "RANK", 0),
        local_rank=_whole(env, "LOCAL_RANK", 0),
        world=_whole(env, "WORLD_SIZE", 1),
        job=env.get("OXGANG_JOB", ""),
        generation=_whole(env, "OXGANG_GENERATION", 0),
        socket=env.get("OXGANG_SOCKET", ""),
        url=env.get("OXGANG_URL", ""),
        token=env.get("OXGANG_TOKEN", ""),
        checkpoints=env.get("OXGANG_CHECKPOINTS", ""),
        notice=env.get("OXGANG_NOTICE", ""),
        cpus=_amount(env, "OXGANG_CPUS"),
        memory=_whole(env, "OXGANG_MEMORY", 0),
        shared_gpu=env.get("OXGANG_SHARED_GPU", "") == "1",
    )
    if e.rank >= e.world:
        raise ValueError(f"RANK {e.rank}, want less than WORLD_SIZE {e.world}")
    return e


def _amount(env: Mapping[str, str], name: str) -> float:
    text = env.get(name, "") or "0"
    try:
        return number(name, float(text))
    except ValueError:
        raise ValueError(f"{name} {text!r}, want a number of at least 0") from None


def _whole(env: Mapping[str, str], name: str, default: int) -> int:
    text = env.get(name, "") or str(default)
    try:
        return int(number(name, int(text), LARGEST))
    except ValueError:
        raise ValueError(f"{name} {text!r}, want a whole number of at least 0") from None

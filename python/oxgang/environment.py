"""Reads the environment variables of a worker."""

from __future__ import annotations

import os
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, replace

from .protocol import LARGEST, number


@dataclass(frozen=True)
class Environment:
    """A worker's place in its job, and the address of its scheduler. The zero value is a
    program that runs alone."""

    rank: int = 0
    local_rank: int = 0
    world: int = 1
    job: str = ""
    generation: int = 0
    socket: str = ""  # path of the scheduler's unix socket
    url: str = ""  # http://127.0.0.1:PORT, or https://HOST:PORT
    url_file: str = ""  # file with the URL, where it appears or changes while the job runs
    token: str = ""
    token_file: str = ""  # file with the token, where it changes while the job runs
    ca_file: str = ""  # file with the certificates to verify an https scheduler with; "": the system's
    trainer: bool = False  # url is Kubeflow Trainer's, for the status of a TrainJob
    checkpoints: str = ""  # directory
    notice: str = ""  # path of the notice file
    cpus: float = 0.0  # cores of this worker; 0: unknown
    memory: int = 0  # bytes of this worker; 0: unknown
    shared_gpu: bool = False  # other workers use the same GPU

    @property
    def scheduled(self) -> bool:
        """Whether there is a scheduler to talk to."""
        return bool((self.token or self.token_file) and (self.socket or self.url or self.url_file))


def read(env: Mapping[str, str] = os.environ) -> Environment:
    """Returns the settings in env; ValueError names the invalid variable."""
    e = Environment(
        rank=_whole(env, "RANK", 0),
        local_rank=_whole(env, "LOCAL_RANK", 0),
        world=_whole(env, "WORLD_SIZE", 1),
        job=env.get("OXGANG_JOB", ""),
        generation=_whole(env, "OXGANG_GENERATION", 0),
        socket=env.get("OXGANG_SOCKET", ""),
        url=env.get("OXGANG_URL", ""),
        url_file=env.get("OXGANG_URL_FILE", ""),
        token=env.get("OXGANG_TOKEN", ""),
        token_file=env.get("OXGANG_TOKEN_FILE", ""),
        ca_file=env.get("OXGANG_CA_FILE", ""),
        checkpoints=env.get("OXGANG_CHECKPOINTS", ""),
        notice=env.get("OXGANG_NOTICE", ""),
        cpus=_amount(env, "OXGANG_CPUS"),
        memory=_whole(env, "OXGANG_MEMORY", 0),
        shared_gpu=env.get("OXGANG_SHARED_GPU", "") == "1",
    )
    if e.rank >= e.world:
        raise ValueError(f"RANK {e.rank}, want less than WORLD_SIZE {e.world}")
    check_url("OXGANG_URL", e.url)
    return e if e.scheduled else _with_trainer(e, env)


def _with_trainer(e: Environment, env: Mapping[str, str]) -> Environment:
    """Returns e with Kubeflow Trainer as the scheduler, if all its variables are set."""
    url, token, ca = (env.get("KUBEFLOW_TRAINER_SERVER_" + n, "") for n in ("URL", "TOKEN", "CA_CERT"))
    if not (url and token and ca):
        return e
    check_url("KUBEFLOW_TRAINER_SERVER_URL", url)
    return replace(e, socket="", url=url, url_file="", token="", token_file=token, ca_file=ca, trainer=True)


def check_url(name: str, url: str) -> None:
    """Raises a ValueError that names the variable or file, if the URL is invalid."""
    where = urllib.parse.urlsplit(url)
    if url and (where.scheme not in ("http", "https") or not where.hostname):
        raise ValueError(f"{name} {url!r}, want http:// or https:// and a host")


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

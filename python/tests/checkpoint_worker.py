"""One rank of a job that loads, checks, trains and saves."""

from __future__ import annotations

import os
from typing import Any

import torch
import torch.distributed as dist
from checkpoint_kit import advance, fingerprint, training
from oxgang.checkpoint import CheckpointError, Checkpoints
from oxgang.rng import RandomState
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel


class Sharded:
    """A model in FSDP2 and its optimiser, as PyTorch's guide to checkpoints wraps them."""

    def __init__(self, size: int) -> None:
        torch.manual_seed(5)
        self.model = nn.Sequential(nn.Linear(8, 13), nn.ReLU(), nn.Linear(13, 1))
        fully_shard(self.model, mesh=init_device_mesh("cpu", (size,)))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.01)

    def state_dict(self) -> dict[str, Any]:
        model, optimizer = get_state_dict(self.model, self.optimizer)
        return {"model": model, "optimizer": optimizer}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        set_state_dict(
            self.model,
            self.optimizer,
            model_state_dict=state["model"],
            optim_state_dict=state["optimizer"],
        )


class Odd:
    """A state that rank 1 fails to give."""

    def __init__(self, rank: int) -> None:
        self.rank = rank

    def state_dict(self) -> dict[str, Any]:
        if self.rank == 1:
            raise ValueError("out of luck")
        return {"x": torch.zeros(3)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take nothing."""


def work(rank: int, size: int, directory: str, stage: int) -> dict[str, Any]:
    """Return fingerprints of the state as loaded and as saved, and random numbers."""
    dist.init_process_group(
        "gloo", init_method=f"file://{directory}/meet-{stage}", rank=rank, world_size=size
    )
    state = training(seed=3, steps=0)
    if size > 1:
        state["model"] = DistributedDataParallel(state["model"])
    sharded = Sharded(size)
    checkpoints = Checkpoints(os.path.join(directory, "checkpoints"))
    everything = {**state, "sharded": sharded, "random": RandomState(rank, size, 100)}
    torch.manual_seed(100 + rank)
    loaded = checkpoints.load(everything)
    out: dict[str, Any] = {"random": torch.rand(1).item()}
    out["loaded"] = loaded and (fingerprint({**state, "sharded": sharded}), loaded.checksum)
    for _ in range(2):
        advance(state["model"], state["optimizer"])
        advance(sharded.model, sharded.optimizer)
    torch.manual_seed(200 + rank)
    saved = checkpoints.save(everything, {"size": size})
    out["saved"] = (fingerprint({**state, "sharded": sharded}), saved.checksum)
    out["next"] = torch.rand(1).item()
    if size > 1:
        try:
            checkpoints.save({"odd": Odd(rank), "random": RandomState(rank, size, 100)}, {})
        except CheckpointError as e:
            out["error"] = str(e)
    dist.destroy_process_group()
    return out

"""What the tests of checkpoints share: a small state, and how to tell that it is the same."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import torch
from torch import nn

# The environment of a test's own processes: they find the package in this tree.
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}


def net(width: int = 16, seed: int = 0) -> nn.Sequential:
    """Return a model with buffers, integers among them."""
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(8, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, 1))


def training(width: int = 16, seed: int = 0, steps: int = 3) -> dict[str, Any]:
    """Return a model, an optimiser with state and a scheduler, some steps into training."""
    model = net(width, seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for _ in range(steps):
        advance(model, optimizer)
        scheduler.step()
    return {"model": model, "optimizer": optimizer, "scheduler": scheduler}


def advance(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Take one step on data that are the same everywhere."""
    x = torch.linspace(-1, 1, 32).reshape(4, 8)
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()


def fingerprint(state: dict[str, Any]) -> str:
    """Return a digest of every tensor's bits and every other value of a state."""
    digest = hashlib.sha256()
    for key in sorted(state):
        thing = getattr(state[key], "module", state[key])
        _feed(digest, thing.state_dict())
    return digest.hexdigest()


def _feed(digest: Any, value: Any) -> None:
    if isinstance(value, torch.Tensor):
        whole = value.full_tensor() if hasattr(value, "full_tensor") else value
        digest.update(whole.detach().cpu().contiguous().numpy().tobytes())
    elif isinstance(value, dict):
        for key, inner in value.items():
            digest.update(repr(key).encode())
            _feed(digest, inner)
    elif isinstance(value, list):
        for inner in value:
            _feed(digest, inner)
    else:
        digest.update(repr(value).encode())


def listing(directory: Path) -> dict[str, bytes]:
    """Return every file below a directory with its content."""
    return {
        str(p.relative_to(directory)): p.read_bytes()
        for p in sorted(directory.rglob("*"))
        if p.is_file()
    }

"""What the examples share and what has nothing to do with Oxgang: flags, evaluation, output."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable

import torch
from torch import nn
from torch.utils.data import TensorDataset

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def arguments(about: str | None, samples: int, width: int) -> argparse.Namespace:
    """Return the command line's flags, with the defaults of one example."""
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--samples", type=int, default=samples, help="of training")
    parser.add_argument("--batch-size", type=int, default=128, help="of all workers together")
    parser.add_argument("--seed", type=int, default=0, help="of the data and the training")
    parser.add_argument("--width", type=int, default=width, help="of the model")
    return parser.parse_args()


@torch.no_grad()
def evaluate(model: nn.Module, loss: Loss, test: TensorDataset, device: torch.device) -> float:
    """Return the loss on data that are the same in every run with this seed."""
    x, y = (tensor.to(device) for tensor in test.tensors)
    return loss(model(x), y).item()


def say(rank: int, **line: object) -> None:
    """Print a line of JSON, once for all workers."""
    if rank == 0:
        print(json.dumps(line), flush=True)

"""One of the examples, at the pace of an accelerator that this machine does not have.

    python live_train.py cnn --epochs 4 --samples 4096 --pace 0.002

Every worker waits --pace seconds for each sample, in its own time, on top of what it really
computes: so slots scale as GPUs do, also where they share two cores. Everything else, the
gradients and the losses among it, is what the example does.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))

import torch
from torch import nn

from oxgang.job import Job


def paced(pace: float) -> None:
    """Make every model wait in its forward passes of training."""
    train = Job.train

    def wait(_: nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
        if torch.is_grad_enabled():
            time.sleep(pace * len(inputs[0]))

    def paced_train(job: Job, model: nn.Module, *args: Any, **kwargs: Any) -> Any:
        model.register_forward_pre_hook(wait)
        return train(job, model, *args, **kwargs)

    Job.train = paced_train  # type: ignore[method-assign]


def main() -> None:
    """Train an example."""
    parser = argparse.ArgumentParser()
    parser.add_argument("example", choices=("mlp", "cnn", "transformer"))
    parser.add_argument("--pace", type=float, default=0.0)
    mine, rest = parser.parse_known_args()
    paced(mine.pace)
    sys.argv = [mine.example, *rest]
    importlib.import_module(f"train_{mine.example}").main()


if __name__ == "__main__":
    main()

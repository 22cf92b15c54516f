"""One of the examples, at the pace of an accelerator that this machine does not have.

    python live_train.py cnn --epochs 4 --samples 4096 --pace 0.002

Every worker waits --pace seconds for each sample, in its own time, on top of what it really
computes: so slots scale as GPUs do, also where they share two cores. Everything else, the
gradients and the losses among it, is what the example does.

With --record DIR every worker writes DIR/GENERATION-RANK.jsonl: a line for each pass, with the
step that it is of, counted from 0, and the checksums of its samples; rank 0 also what it says
of losses. Lines are written at once, so that they outlive whoever kills the worker.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import os
import sys
import time
import zlib
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))

import common
import oxgang
import torch
from oxgang.job import Job
from torch import nn


class Record:
    """What a worker writes down; nothing without a directory."""

    def __init__(self, where: Path | None) -> None:
        self._file = None
        if where is not None:
            where.mkdir(parents=True, exist_ok=True)
            name = f"{os.environ.get('OXGANG_GENERATION', '0')}-{os.environ.get('RANK', '0')}.jsonl"
            self._file = (where / name).open("a", buffering=1)

    def line(self, **said: object) -> None:
        """Write a line."""
        if self._file is not None:
            print(json.dumps(said), file=self._file)

    def samples(self, job: Job, x: torch.Tensor) -> None:
        """Write which samples a pass trains on. One that has none left passes with another's, for
        nothing."""
        micro = job._loader.current
        if self._file is not None:
            self.line(step=job.position.step, samples=[zlib.crc32(one.numpy().tobytes()) for one in x[:micro.size]])

    def follow(self) -> None:
        """Write what the example says from now on, too."""
        say = common.say

        def said(rank: int, **line: object) -> None:
            say(rank, **line)
            if rank == 0:
                self.line(**line)

        common.say = said


def watch(pace: float, record: Record) -> None:
    """Make every model wait in its forward passes of training, and have them written down."""
    train = Job.train

    def watched(job: Job, model: nn.Module, *args: Any, **kwargs: Any) -> Any:
        def before(_: nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
            if torch.is_grad_enabled():
                record.samples(job, inputs[0])
                time.sleep(pace * len(inputs[0]))

        model.register_forward_pre_hook(before)
        return train(job, model, *args, **kwargs)

    Job.train = watched  # type: ignore[method-assign]


def main() -> None:
    """Train an example."""
    parser = argparse.ArgumentParser()
    parser.add_argument("example", choices=("mlp", "cnn", "transformer"))
    parser.add_argument("--pace", type=float, default=0.0, help="seconds for each sample")
    parser.add_argument("--record", type=Path, help="directory")
    parser.add_argument("--checkpoint-steps", type=int, default=0, help="steps from one checkpoint to the next; 0: by time alone")
    mine, rest = parser.parse_known_args()
    record = Record(mine.record)
    record.follow()
    watch(mine.pace, record)
    oxgang.init = functools.partial(oxgang.init, checkpoint_steps=mine.checkpoint_steps)
    sys.argv = [mine.example, *rest]
    importlib.import_module(f"train_{mine.example}").main()


if __name__ == "__main__":
    main()

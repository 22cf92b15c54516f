"""A hook into the Trainer of Hugging Face transformers.

    trainer = Trainer(..., callbacks=[OxgangCallback(oxgang.init())])
    trainer.train(resume_from_checkpoint=last_checkpoint(trainer.args.output_dir))

The Trainer writes its own checkpoints, at its own times and on notice. Its global batch changes
with the number of workers. To keep it, set gradient_accumulation_steps from WORLD_SIZE.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

try:
    from transformers import TrainerCallback
except ImportError as e:
    raise ImportError("oxgang.hf needs transformers: pip install 'oxgang[hf]'") from e

from . import hooks
from .job import Job
from .protocol import Batch


class OxgangCallback(TrainerCallback):
    """Reports steps and checkpoints to a job. On notice saves a checkpoint and exits with 75."""

    def __init__(self, job: Job | hooks.Job) -> None:
        self._job = hooks.of(job)
        self._steps = hooks.Steps(self._job)
        self._stopping = False

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Say hello. Fails if the Trainer itself would save on SIGTERM."""
        if getattr(args, "enable_jit_checkpoint", False):
            raise ValueError("enable_jit_checkpoint is on, want it off: OxgangCallback does it")
        self._stopping = False
        batch = Batch(args.train_batch_size, args.gradient_accumulation_steps - 1)
        self._job.begin(
            batch, state.global_step, state.max_steps, math.ceil(state.num_train_epochs)
        )

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Start the clock."""
        self._steps.begin()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Report the step. On notice ask the Trainer to save a checkpoint and stop."""
        accumulation = args.gradient_accumulation_steps
        self._steps.end(args.train_batch_size * accumulation * args.world_size)
        if self._job.should_stop():
            self._stopping = control.should_save = control.should_training_stop = True
            control.should_evaluate = False

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Prevent the Trainer from evaluating after an interrupted epoch."""
        if self._stopping:
            control.should_save = control.should_evaluate = False

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Do not count an evaluation as wait for data."""
        self._steps.pause()

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Acknowledge a checkpoint, after all ranks have written their part."""
        seconds = self._steps.since()
        self._steps.pause()
        path = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        hooks.acknowledge(self._job, path, state.global_step, state.epoch, seconds)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Exit, if training ends because of a notice."""
        if self._stopping:
            self._job.leave()
        self._job.close()


def last_checkpoint(output_dir: str | Path) -> str | None:
    """Return the newest checkpoint that the Trainer finished writing, None if there is none.

    The Trainer writes trainer_state.json last.
    """
    paths = [p for p in Path(output_dir).glob("checkpoint-*") if p.name[11:].isdigit()]
    for path in sorted(paths, key=lambda p: int(p.name[11:]), reverse=True):
        try:
            json.loads((path / "trainer_state.json").read_text())
        except (OSError, ValueError):
            continue
        return str(path)
    return None

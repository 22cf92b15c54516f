"""A hook into the Trainer of Lightning.

    trainer = Trainer(..., callbacks=[OxgangCallback(oxgang.init(), "checkpoints")])
    trainer.fit(model, ckpt_path=last_checkpoint("checkpoints"))

A notice may come within an epoch. Lightning then continues within the epoch only if the train
dataloader has state_dict and load_state_dict (such as torchdata's StatefulDataLoader). Between
notices Lightning's ModelCheckpoint saves checkpoints in the same directory. The global batch
changes with the number of workers. To keep it, set accumulate_grad_batches from WORLD_SIZE.
"""

from __future__ import annotations

import math
import os
import time
import zipfile
from pathlib import Path
from typing import Any

try:
    from lightning.pytorch import Callback
    from lightning.pytorch.utilities.data import extract_batch_size
except ImportError as e:
    raise ImportError("oxgang.lightning needs lightning: pip install 'oxgang[lightning]'") from e

from . import hooks
from .job import Job
from .protocol import Batch


class OxgangCallback(Callback):
    """Reports steps to a job. On notice saves a checkpoint in directory and exits with 75."""

    def __init__(self, job: Job | hooks.Job, directory: str | os.PathLike[str]) -> None:
        self._job = hooks.of(job)
        self._directory = Path(directory)
        self._steps = hooks.Steps(self._job)
        self._seen = 0  # steps of the optimiser
        self._samples = 0  # of this rank, since then
        self._fresh = True  # the next pass is the first of a step

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Say hello; continue at the loaded checkpoint's step."""
        self._seen = trainer.global_step
        steps = trainer.estimated_stepping_batches
        if math.isinf(steps):
            raise ValueError("the Trainer has no end, want max_epochs or max_steps")
        local = getattr(trainer.train_dataloader, "batch_size", None) or 1
        batch = Batch(local, trainer.accumulate_grad_batches - 1)
        self._job.begin(batch, self._seen, int(steps), max(1, trainer.max_epochs or 1))

    def on_train_batch_start(
        self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int
    ) -> None:
        """Start the clock, at the first pass of a step."""
        if self._fresh:
            self._steps.begin()
            self._fresh = False

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Report the step, if the optimiser made one. On notice save and exit."""
        self._samples += extract_batch_size(batch)
        if trainer.global_step == self._seen:
            return
        self._steps.end(self._samples * trainer.world_size)
        self._seen, self._samples, self._fresh = trainer.global_step, 0, True
        if self._job.should_stop():
            self._save(trainer)
            self._job.leave()

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """Do not count a validation as wait for data."""
        self._steps.pause()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Send the last report."""
        self._job.close()

    def _save(self, trainer: Any) -> None:
        step, start = trainer.global_step, time.monotonic()
        path = self._directory / f"oxgang-{step}.ckpt"
        temporary = path.with_suffix(".tmp")
        trainer.save_checkpoint(temporary)
        trainer.strategy.barrier()
        if trainer.is_global_zero:
            os.replace(temporary, path)
        trainer.strategy.barrier()
        seconds = time.monotonic() - start
        hooks.acknowledge(self._job, path, step, trainer.current_epoch, seconds)


def last_checkpoint(directory: str | os.PathLike[str]) -> str | None:
    """Return the newest complete checkpoint in directory, by its time; None if there is none.

    An incomplete file lacks the directory at the end of its zip archive.
    """
    paths = sorted(Path(directory).glob("*.ckpt"), key=lambda p: p.stat().st_mtime_ns)
    whole = [str(p) for p in paths if p.is_dir() or zipfile.is_zipfile(p)]
    return whole[-1] if whole else None

"""Decides when a job's state is saved, and saves and loads it."""

from __future__ import annotations

import time
from os import PathLike
from typing import Any, Protocol

from .loader import Position
from .noise import Noise
from .protocol import LARGEST, Restored, number
from .version import CLIENT, check_readable

MOST_SHARE = 0.05  # of the time, maximum for saving: slow checkpoints are saved less often


class Saved(Protocol):
    """A store's description of a saved checkpoint."""

    @property
    def path(self) -> str | PathLike[str]: ...

    @property
    def bytes(self) -> int: ...

    @property
    def seconds(self) -> float: ...

    @property
    def checksum(self) -> str: ...


class Loaded(Protocol):
    """A store's description of a loaded checkpoint."""

    @property
    def meta(self) -> dict[str, Any]: ...

    @property
    def checksum(self) -> str: ...

    @property
    def seconds(self) -> float: ...


class Store(Protocol):
    """A store of checkpoints, such as oxgang.checkpoint.Checkpoints. Both calls are collective,
    and raise a CheckpointError on all ranks or on none."""

    def save(self, state: dict[str, Any], meta: dict[str, Any]) -> Saved: ...

    def load(self, state: dict[str, Any]) -> Loaded | None: ...


class Saver:
    """Saves and loads a job's parts, each with state_dict and load_state_dict."""

    def __init__(self, store: Store, seconds: float, steps: int) -> None:
        self._store, self._seconds, self._steps = store, number("checkpoint_seconds", seconds), steps
        self._step = 0  # step saved or loaded last
        self._at, self._tried, self._took = time.monotonic(), 0, 0.0  # last attempt, its step and seconds
        self.parts: dict[str, Any] = {}

    def due(self, step: int) -> bool:
        """Whether a checkpoint is due, by time or by steps since the last attempt."""
        if step == self._tried:
            return False
        if self._steps > 0 and step - self._tried >= self._steps:
            return True
        return time.monotonic() - self._at >= max(self._seconds, self._took / MOST_SHARE)

    def saved(self, step: int) -> bool:
        """Whether a checkpoint of this step was saved or loaded."""
        return step > 0 and step == self._step

    def save(self, position: Position, seed: int, noise: Noise, batch: int) -> Saved:
        meta = {
            "client": CLIENT, "step": position.step, "progress": position.progress, "epoch": position.epoch,
            "sampler": {"seed": seed, "data_pass": position.data_pass, "sample": position.sample},
            "batch": batch, "noise": noise.state(),
        }
        began = time.monotonic()
        try:
            done = self._store.save(self.parts, meta)
        finally:
            self._at, self._tried = time.monotonic(), position.step
            self._took = self._at - began
        self._step = position.step
        return done

    def load(self) -> tuple[dict[str, Any], Restored, float] | None:
        """Loads the newest complete checkpoint; returns its description and the seconds taken."""
        loaded = self._store.load(self.parts)
        self._at = time.monotonic()
        if loaded is None:
            return None
        check_readable(str(loaded.meta.get("client", "")))
        restored = Restored(_whole(loaded.meta, "step"), number("progress", loaded.meta["progress"]), loaded.checksum)
        self._step = self._tried = restored.step
        return loaded.meta, restored, loaded.seconds


def place(position: Position, meta: dict[str, Any]) -> int:
    """Sets a position from a checkpoint, and returns its seed."""
    sampler = meta["sampler"]
    position.step, position.epoch = _whole(meta, "step"), _whole(meta, "epoch")
    position.progress = float(number("progress", meta["progress"]))
    position.data_pass, position.sample = _whole(sampler, "data_pass"), _whole(sampler, "sample")
    return _whole(sampler, "seed")


def _whole(meta: dict[str, Any], name: str) -> int:
    return int(number(f"checkpoint: {name}", meta[name], LARGEST))

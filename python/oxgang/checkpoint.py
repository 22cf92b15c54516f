"""Checkpoints that are whole or not there, and that any number of workers can load.

    checkpoints = Checkpoints("run/checkpoints")
    state = {"model": model, "optimizer": optimizer}
    loaded = checkpoints.load(state)          # None: nothing has been saved yet
    ...
    saved = checkpoints.save(state, {"step": 1000})

The files are those of torch.distributed.checkpoint: pickles among them, so load only what you trust.
PyTorch does not promise that another version of it can read them.
"""

from __future__ import annotations

import errno
import os
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner, DefaultSavePlanner
from torch.distributed.checkpoint.filesystem import FileSystemReader
from torch.distributed.checkpoint.metadata import TensorStorageMetadata
from torch.distributed.checkpoint.state_dict_loader import load as dcp_load
from torch.distributed.checkpoint.state_dict_saver import save as dcp_save
from torch.nn.parallel import DistributedDataParallel

from . import version
from ._checkpoint import files, manifest
from ._checkpoint.error import CheckpointError
from ._checkpoint.manifest import Damaged, Manifest
from ._checkpoint.pack import Packed, pack, unpack
from ._checkpoint.shelf import Entry, Shelf
from ._checkpoint.team import Team

__all__ = ["CheckpointError", "Checkpoints", "Loaded", "Saved", "Stateful"]


class Stateful(Protocol):
    """An object that can be saved: a model (bare or in DDP), an optimiser, a scheduler, a
    loader.

    Its state must be the same on all ranks, or consist of DTensors. Objects whose state differs
    by rank, such as random generators, must gather it: see oxgang.rng.RandomState. Pass a
    sharded model and its optimiser as one Stateful that uses
    torch.distributed.checkpoint.state_dict.get_state_dict, as PyTorch's guide does.
    """

    def state_dict(self) -> dict[str, Any]:
        """Return the state."""

    def load_state_dict(self, state_dict: dict[str, Any]) -> Any:
        """Load a state."""


@dataclass(frozen=True)
class Saved:
    """A checkpoint that is durable and verified."""

    path: Path
    bytes: int
    seconds: float
    checksum: str  # sha256:<hex> of the manifest, which has the digest of every file


@dataclass(frozen=True)
class Loaded:
    """A loaded checkpoint. passed_over lists the errors of newer checkpoints, newest first."""

    path: Path
    meta: dict[str, Any]
    checksum: str
    seconds: float
    passed_over: tuple[str, ...]


class Checkpoints:
    """The checkpoints of one job in a directory that all its ranks see.

    save and load are collective. All ranks of the group call them with the same keys, and all
    return or all raise CheckpointError. The default is the default process group, or only this
    process if there is none. generation fences writers of older generations. None means the
    environment variable OXGANG_GENERATION or, without it, the newest generation in the
    directory.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        keep: int = 2,
        *,
        generation: int | None = None,
        group: dist.ProcessGroup | None = None,
    ) -> None:
        if keep < 1:
            raise ValueError(f"keep: {keep} checkpoints, want at least 1")
        if generation is None and "OXGANG_GENERATION" in os.environ:
            generation = int(os.environ["OXGANG_GENERATION"])
        self.keep = keep
        self._shelf = Shelf(Path(directory).absolute(), generation)
        self._group = group
        self._damaged: set[Entry] = set()

    def save(self, state: Mapping[str, Stateful], meta: dict[str, Any]) -> Saved:
        """Save state and meta (JSON). Remove all except the newest keep checkpoints.

        After an error all earlier checkpoints are unchanged.
        """
        start, team = time.monotonic(), Team(self._group)
        flat: dict[str, Any] = {}
        team.in_turn("checkpoint", state, lambda key, thing: flat.update(_flatten(key, thing)))
        temporary = team.first("checkpoint", self._shelf.begin)
        try:
            entries = self._write(team, temporary, flat)
            path, checksum = team.first(
                "checkpoint", lambda: self._publish(temporary, self._record(team, meta, entries))
            )
        except BaseException as e:
            if team.rank == 0:
                self._shelf.abandon(temporary)
            if isinstance(e, CheckpointError):
                raise type(e)(self._advise(str(e))) from e
            raise
        size = sum(entry["bytes"] for entry in entries.values())
        return Saved(path, size, time.monotonic() - start, checksum)

    def _write(self, team: Team, temporary: Path, flat: dict[str, Any]) -> dict[str, Any]:
        """Write and read back the files; return their manifest entries."""
        writer = files.Writer(temporary)
        planner = DefaultSavePlanner(flatten_state_dict=False, flatten_sharded_tensors=False)
        _collective(
            team,
            lambda: dcp_save(
                flat, storage_writer=writer, planner=planner, process_group=team.group
            ),
        )
        team.each("checkpoint", lambda: self._verify(temporary, writer.written))
        entries: dict[str, Any] = {}
        for written in team.each("checkpoint", lambda: writer.written):
            entries |= written
        return entries

    def _record(self, team: Team, meta: dict[str, Any], entries: dict[str, Any]) -> Manifest:
        return Manifest(
            format=manifest.FORMAT,
            client=version.VERSION,
            torch=torch.__version__,
            generation=self._shelf.generation,
            world_size=team.size,
            meta=meta,
            files=entries,
        )

    def _publish(self, temporary: Path, record: Manifest) -> tuple[Path, str]:
        """Finish, publish and prune on rank 0, after every file is durable and verified."""
        checksum = manifest.write(temporary, record)
        files.sync(temporary)
        path = self._shelf.publish(temporary)
        self._shelf.prune(self.keep, self._damaged)
        return path, checksum

    def _verify(self, directory: Path, entries: dict[str, dict[str, Any]]) -> None:
        """Raise Damaged unless the files match their entries."""
        manifest.check(directory, entries)

    def _advise(self, complaint: str) -> str:
        full = (os.strerror(errno.ENOSPC), os.strerror(errno.EDQUOT))
        advice = ""
        if any(text in complaint for text in full):
            advice = f": free space there; {self.keep + 1} checkpoints must fit at a time"
        return f"{complaint}{advice} (the checkpoints in {self._shelf.directory} are untouched)"

    def load(self, state: Mapping[str, Stateful]) -> Loaded | None:
        """Load the newest complete checkpoint into state; return None if none was ever saved.

        Raises CheckpointError if all checkpoints are damaged: starting again silently would
        lose the job's work. After an error objects may be partly loaded.
        """
        start, team = time.monotonic(), Team(self._group)
        choice = team.first("checkpoint", self._choose)
        if choice is None:
            return None
        path, record, checksum, passed_over = choice
        flat: dict[str, Any] = {}
        reader = FileSystemReader(path)
        there: dict[str, Any] = {}
        team.each(str(path), lambda: there.update(reader.read_metadata().state_dict_metadata))
        team.in_turn(
            str(path), state, lambda key, thing: flat.update(_wanted(key, thing, there))
        )
        planner = DefaultLoadPlanner(flatten_state_dict=False, flatten_sharded_tensors=False)
        _collective(
            team,
            lambda: dcp_load(
                flat, storage_reader=reader, planner=planner, process_group=team.group
            ),
        )
        team.in_turn(str(path), state, lambda key, thing: _give(key, thing, flat))
        seconds = time.monotonic() - start
        return Loaded(path, record.meta, checksum, seconds, tuple(passed_over))

    def _choose(self) -> tuple[Path, Manifest, str, list[str]] | None:
        """Return the newest complete checkpoint, and the errors of newer ones."""
        self._shelf.sweep()
        passed_over: list[str] = []
        for entry in reversed(self._shelf.published()):
            path = self._shelf.path(entry)
            try:
                record, checksum = manifest.read(path, version.VERSION)
                self._verify(path, record.files)
            except Damaged as e:
                self._damaged.add(entry)
                passed_over.append(f"{entry.name}: {e}")
            else:
                return path, record, checksum, passed_over
        if passed_over:
            raise CheckpointError(
                f"{self._shelf.directory}: no checkpoint is whole ({'; '.join(passed_over)}): "
                "restore one, or move them away to begin anew"
            )
        return None


def _flatten(key: str, thing: Stateful) -> dict[str, Any]:
    """Return this rank's tensors and frame of a part, by name."""
    if not key.isidentifier():
        raise CheckpointError(f"state {key!r}: want a name made of letters, digits and _")
    packed = pack(key, _bare(thing).state_dict())
    return {key + "#frame": (packed.frame, packed.paths), **packed.tensors}


def _bare(thing: Any) -> Any:
    """Return a model without DDP, so that its names are the same at any number of workers."""
    return thing.module if isinstance(thing, DistributedDataParallel) else thing


def _wanted(key: str, thing: Stateful, saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return a place for each tensor of a part that this rank must read, and None for the frame."""
    _check_there(key, saved)
    now = pack(key, _bare(thing).state_dict()).tensors
    flat: dict[str, Any] = {key + "#frame": None}
    for item, entry in saved.items():
        if item.startswith(key + "/") and isinstance(entry, TensorStorageMetadata):
            flat[item] = _place(now.get(item), entry)
    return flat


def _check_there(key: str, saved: Mapping[str, Any]) -> None:
    """Raise CheckpointError if no state of that key was saved."""
    there = sorted(item[: -len("#frame")] for item in saved if item.endswith("#frame"))
    if key not in there:
        raise CheckpointError(f"no state {key!r} in it, it has {', '.join(there)}")


def _place(now: torch.Tensor | None, entry: TensorStorageMetadata) -> torch.Tensor:
    """Return the tensor to read into: the object's own (which knows its shards), or a new one."""
    if now is not None and now.shape == entry.size and now.dtype == entry.properties.dtype:
        return now
    return torch.empty(entry.size, dtype=entry.properties.dtype)


def _give(key: str, thing: Stateful, flat: dict[str, Any]) -> None:
    """Load the state of a part into its object."""
    frame, paths = flat[key + "#frame"]
    loaded = unpack(Packed(frame, paths, {item: flat[item] for item in paths}))
    _bare(thing).load_state_dict(loaded)


def _collective(team: Team, work: Callable[[], Any]) -> None:
    """Run a collective of torch.distributed.checkpoint that fails on all ranks or on none."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="torch.distributed is disabled")
            work()
    except CheckpointException as e:
        rank, (error, _) = next(iter(e.failures.items()))
        where = "" if team.alone else f"rank {rank}: "
        raise CheckpointError(f"checkpoint: {where}{type(error).__name__}: {error}") from e

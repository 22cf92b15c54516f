"""The directory of a job's checkpoints. Only rank 0 changes it.

Published checkpoints are called g<generation>-<sequence>. Directories that are being written or
removed have a name that begins with .tmp-. Renaming publishes or withdraws a checkpoint.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from . import files
from .error import CheckpointError, Fenced

_PUBLISHED = re.compile(r"g(\d+)-(\d+)")
_TEMPORARY = re.compile(r"\.tmp-g(\d+)-.*")


@dataclass(frozen=True, order=True)
class Entry:
    """A published checkpoint. They are ordered by generation, then sequence: newest last."""

    generation: int
    sequence: int

    @property
    def name(self) -> str:
        """Its name in the directory."""
        return f"g{self.generation:05d}-{self.sequence:08d}"


class Shelf:
    """The checkpoints in a directory, as one generation of the job uses them.

    A generation of None is not fenced: it uses the newest generation in the directory.
    """

    def __init__(self, directory: Path, generation: int | None) -> None:
        self.directory = directory
        self._generation = generation
        self._lock: int | None = None

    @property
    def generation(self) -> int:
        """The generation written into manifests."""
        if self._generation is not None:
            return self._generation
        return max((e.generation for e in self.published()), default=0)

    def published(self) -> list[Entry]:
        """Return the published checkpoints, newest last."""
        if not self.directory.is_dir():
            return []
        found = (_PUBLISHED.fullmatch(name) for name in os.listdir(self.directory))
        return sorted(Entry(int(m[1]), int(m[2])) for m in found if m)

    def path(self, entry: Entry) -> Path:
        """Return the directory of a checkpoint."""
        return self.directory / entry.name

    def fence(self) -> None:
        """Raise Fenced if a newer generation of the job has saved a checkpoint."""
        newest = max((e.generation for e in self.published()), default=self.generation)
        if newest > self.generation:
            raise Fenced(
                f"{self.directory}: generation {self.generation} is over, generation {newest} has "
                "saved a checkpoint: stop this process"
            )

    def sweep(self) -> None:
        """Remove what dead writers and writers of older generations left behind."""
        if not self.directory.is_dir():
            return
        for name in os.listdir(self.directory):
            if m := _TEMPORARY.fullmatch(name):
                self._sweep(self.directory / name, stale=int(m[1]) < self.generation)

    def _sweep(self, leftover: Path, *, stale: bool) -> None:
        try:
            held = files.lock(leftover)
        except OSError:
            return  # it was removed meanwhile
        if held is not None or stale:
            files.remove(leftover)
        if held is not None:
            os.close(held)

    def begin(self) -> Path:
        """Return a new temporary directory that this process has locked."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self.fence()
        self.sweep()
        path = self._temporary("save")
        path.mkdir()
        self._lock = files.lock(path)
        if self._lock is None:
            raise CheckpointError(f"{path}: another process has locked it: let only one save")
        return path

    def _temporary(self, what: str) -> Path:
        unique = os.urandom(4).hex()
        return self.directory / f".tmp-g{self.generation:05d}-{what}-{os.getpid()}-{unique}"

    def publish(self, temporary: Path) -> Path:
        """Publish a complete, durable temporary directory under the next name. This commits the
        checkpoint."""
        self.fence()
        last = max((e.sequence for e in self.published()), default=0)
        target = self.path(Entry(self.generation, last + 1))
        os.rename(temporary, target)
        files.sync(self.directory)
        self._release()
        return target

    def abandon(self, temporary: Path) -> None:
        """Remove a temporary directory without publishing it."""
        files.remove(temporary)
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def prune(self, keep: int, damaged: set[Entry]) -> None:
        """Remove damaged checkpoints, and all others except the newest keep."""
        entries = self.published()
        kept = [e for e in entries if e not in damaged][-keep:]
        for entry in entries:
            if entry not in kept:
                doomed = self._temporary("old")
                os.rename(self.path(entry), doomed)  # so that no process loads an incomplete checkpoint
                files.remove(doomed)

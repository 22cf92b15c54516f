"""Durable files, identified by their SHA-256."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from torch.distributed.checkpoint.filesystem import FileSystem, FileSystemWriter

CHUNK = 1 << 20  # bytes read at a time


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as f:
        while chunk := f.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def sync(directory: Path) -> None:
    """Make the names in a directory durable."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(directory: Path) -> None:
    """Remove a directory and its content, if it exists."""
    shutil.rmtree(directory, ignore_errors=True)


class Hashed:
    """A file that is written sequentially and hashed on the way."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._digest = hashlib.sha256()
        self._entry: dict[str, Any] = {}
        self.failed: OSError | None = None

    def write(self, data: Any) -> int:
        """Write all of data, an object with a buffer. PyTorch replaces the error of a full disk
        by another one, so failed keeps it."""
        self._digest.update(data)
        try:
            return self._file.write(data)
        except OSError as e:
            self.failed = e
            raise

    def tell(self) -> int:
        """Return the number of bytes written."""
        return self._file.tell()

    def flush(self) -> None:
        """Flush the buffer to the kernel."""
        self._file.flush()

    def fileno(self) -> int:
        """Return the file's descriptor."""
        return self._file.fileno()

    def close(self) -> dict[str, Any]:
        """Make the file durable and return its manifest entry. May be called repeatedly.

        The pages are dropped from the cache where the kernel allows it, so that a later read
        comes from the disk.
        """
        if not self._entry:
            with self._file:
                self._file.flush()
                os.fsync(self.fileno())
                os.posix_fadvise(self.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                self._entry = {"bytes": self.tell(), "sha256": self._digest.hexdigest()}
        return self._entry

    def discard(self) -> None:
        """Close the file without making it durable."""
        with suppress(OSError):  # of the data in the buffer
            self._file.close()


class _Ledger(FileSystem):
    """A file system that records a manifest entry of each file written through it, by name."""

    def __init__(self) -> None:
        self.written: dict[str, dict[str, Any]] = {}

    @contextmanager
    def create_stream(self, path: str | os.PathLike[str], mode: str) -> Generator[Any, None, None]:
        stream = Hashed(Path(path))
        try:
            yield stream
        except BaseException as e:
            stream.discard()
            if stream.failed not in (None, e):
                raise stream.failed from e
            raise
        self.written[Path(path).name] = stream.close()

    def rename(self, path: str | os.PathLike[str], new_path: str | os.PathLike[str]) -> None:
        super().rename(path, new_path)
        self.written[Path(new_path).name] = self.written.pop(Path(path).name)


class Writer(FileSystemWriter):
    """The writer of torch.distributed.checkpoint, with a manifest entry of each file of this
    rank."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory, sync_files=False)  # Hashed.close does
        self.fs = self._ledger = _Ledger()

    @property
    def written(self) -> dict[str, dict[str, Any]]:
        """The manifest entries of this rank's files, by name."""
        return self._ledger.written


def lock(directory: Path) -> int | None:
    """Lock a directory. Return its descriptor, or None if another process holds the lock.

    The kernel releases the lock when the process dies.
    """
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor

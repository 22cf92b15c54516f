"""The manifest of a checkpoint lists its files and proves that they are complete.

A checkpoint is a directory. manifest.json lists the size and the SHA-256 of every file.
manifest.json.sha256 holds the digest of manifest.json, in the format of sha256sum. Do not
change these two files: a client needs them to tell a newer format from damage.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import files
from .error import CheckpointError

FORMAT = 1  # raise it when clients of the old format cannot load the new one
NAME = "manifest.json"
SEAL = "manifest.json.sha256"


@dataclass(frozen=True)
class Manifest:
    """The content of manifest.json. generation is the job's generation that wrote it."""

    format: int
    client: str
    torch: str
    generation: int
    world_size: int
    meta: dict[str, Any]
    files: dict[str, dict[str, Any]]  # by name: bytes and sha256


class Damaged(Exception):
    """A checkpoint is incomplete or damaged; the message says how."""


def write(directory: Path, manifest: Manifest) -> str:
    """Write the manifest and its digest durably; return the digest as sha256:<hex>."""
    try:
        text = json.dumps(asdict(manifest), indent=1, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as e:
        raise CheckpointError(f"meta is not JSON: {e}") from e
    seal = hashlib.sha256(text.encode()).hexdigest()
    for name, content in ((NAME, text), (SEAL, _seal_line(seal))):
        f = files.Hashed(directory / name)
        try:
            f.write(content.encode())
        finally:
            f.close()
    return "sha256:" + seal


def _seal_line(seal: str) -> str:
    return f"{seal}  {NAME}\n"


def read(directory: Path, client: str) -> tuple[Manifest, str]:
    """Return the manifest and its digest. Raises Damaged if they do not match.

    Raises CheckpointError if a newer client wrote the checkpoint. It is complete then, and
    loading an older one instead would lose work silently.
    """
    try:
        content = (directory / NAME).read_bytes()
        line = (directory / SEAL).read_bytes()
    except OSError as e:
        raise Damaged(f"{Path(e.filename).name}: {e.strerror}") from e
    seal = hashlib.sha256(content).hexdigest()
    if line != _seal_line(seal).encode():
        raise Damaged(f"{NAME} has SHA-256 {seal[:12]}, want what {SEAL} says")
    fields = json.loads(content)
    _refuse_newer(directory, fields, client)
    return Manifest(**{key: fields[key] for key in Manifest.__dataclass_fields__}), "sha256:" + seal


def _refuse_newer(directory: Path, fields: dict[str, Any], client: str) -> None:
    advice = "install that client, or start from another directory"
    if fields["format"] > FORMAT:
        raise CheckpointError(
            f"{directory}: format {fields['format']} of client {fields['client']}, "
            f"want at most {FORMAT} (this is client {client}): {advice}"
        )
    if _major(fields["client"]) > _major(client):
        raise CheckpointError(
            f"{directory}: saved by client {fields['client']}, this is client {client}: {advice}"
        )


def _major(version: str) -> int:
    return int(version.split(".")[0])


def check(directory: Path, entries: dict[str, dict[str, Any]]) -> None:
    """Read each file in entries and raise Damaged if size or digest differ."""
    for name, entry in entries.items():
        path = directory / name
        try:
            size = os.stat(path).st_size
            if size != entry["bytes"]:
                raise Damaged(f"{name} has {size} bytes, want {entry['bytes']}")
            seen = files.sha256(path)
        except OSError as e:
            raise Damaged(f"{name}: {e.strerror}") from e
        if seen != entry["sha256"]:
            raise Damaged(f"{name} has SHA-256 {seen[:12]}, want {entry['sha256'][:12]}")

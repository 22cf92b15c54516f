"""The manifest of a checkpoint: what it is made of, and how to tell that it is whole.

A checkpoint is a directory. manifest.json lists the size and the SHA-256 of every file;
manifest.json.sha256 holds that of the manifest, in the form of sha256sum. Both outlive formats: a
client can tell "newer than I am" from "damaged" only while these two files stay as they are.
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

FORMAT = 1  # grows when a client that knows only the old one could not load it
NAME = "manifest.json"
SEAL = "manifest.json.sha256"


@dataclass(frozen=True)
class Manifest:
    """What manifest.json says. generation is the fencing token: the job's generation that wrote it."""

    format: int
    client: str
    torch: str
    generation: int
    world_size: int
    meta: dict[str, Any]
    files: dict[str, dict[str, Any]]  # by name: bytes and sha256


class Damaged(Exception):
    """A checkpoint is not whole; the message says how."""


def write(directory: Path, manifest: Manifest) -> str:
    """Write the manifest and its seal durably; return the seal, sha256:<hex>."""
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
    """Return the manifest and its seal. Raises Damaged if they do not belong together.

    Raises CheckpointError if a newer client wrote the checkpoint: it is whole, and falling back to
    an older one would lose work in silence.
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
    """Read every file that entries name and raise Damaged if one is not what its entry says."""
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

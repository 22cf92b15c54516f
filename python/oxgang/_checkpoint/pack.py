"""State dictionaries are saved as flat tensors and a frame.

torch.distributed.checkpoint saves tensors by name, and reads the pieces that the new number of
workers needs. A state dictionary holds more than tensors, and that of an optimiser lacks
tensors before its first step. So we save the tensors, by path, and the frame: the dictionary
without its tensors. Loading returns exactly what was saved, whatever the object holds.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import torch

from .error import CheckpointError

Path = tuple[Any, ...]  # of dictionary keys and list indices


@dataclass
class Packed:
    """A state dictionary taken apart. The tensors are aliases of the original ones; the frame
    is a copy."""

    frame: Any
    paths: dict[str, Path] = field(default_factory=dict)
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)


def pack(prefix: str, state: Any) -> Packed:
    """Take state apart. Tensors are named prefix/key/key. Tuples and other objects are kept in
    the frame."""
    packed = Packed(frame=None)
    packed.frame = _take(prefix, (), state, packed)
    return packed


def _take(name: str, path: Path, value: Any, packed: Packed) -> Any:
    if isinstance(value, torch.Tensor):
        if name in packed.tensors:
            raise CheckpointError(f"two tensors are called {name}: use keys that differ as text")
        packed.paths[name] = path
        packed.tensors[name] = value.detach()
        return None
    if not isinstance(value, (dict, list)):
        return value
    frame = copy.copy(value)  # keeps the type and its attributes, such as a module's _metadata
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        frame[key] = _take(f"{name}/{key}", (*path, key), inner, packed)
    return frame


def unpack(packed: Packed) -> Any:
    """Rebuild a state dictionary. It fills the frame of packed and returns it."""
    state = packed.frame
    for name, path in packed.paths.items():
        if not path:
            return packed.tensors[name]
        inner = state
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = packed.tensors[name]
    return state

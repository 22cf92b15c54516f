"""The random states of all ranks, as part of a checkpoint.

At another world size, ranks that existed continue with their old state, and new ones begin with
a new seed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import sys
from typing import Any

import torch
import torch.distributed as dist


def mix(*parts: int) -> int:
    """Returns a seed of 63 bits that depends on all parts."""
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


class RandomState:
    """state_dict and load_state_dict of the random states of Python, NumPy (if imported), torch
    and its device. state_dict is collective: it gathers the states of all ranks. It holds only
    text, so that loading it runs no code."""

    def __init__(self, rank: int, world: int, seed: int, group: Any = None) -> None:
        self._rank, self._world, self._seed, self._group = rank, world, seed, group

    def state_dict(self) -> dict[str, Any]:
        ranks: list[Any] = [_own()]
        if self._world > 1:
            ranks = [None] * self._world
            dist.all_gather_object(ranks, _own(), group=self._group)
        return {"ranks": json.dumps(ranks)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        ranks = json.loads(state["ranks"])
        if self._rank < len(ranks):
            _set(ranks[self._rank])
        else:
            seed_all(mix(self._seed, self._rank))


def seed_all(seed: int) -> None:
    """Seeds Python, NumPy (if imported) and torch."""
    random.seed(seed)
    torch.manual_seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


def _own() -> dict[str, Any]:
    state: dict[str, Any] = {"python": random.getstate(), "torch": _text(torch.get_rng_state())}
    if "numpy" in sys.modules:
        name, keys, *rest = sys.modules["numpy"].random.get_state()
        state["numpy"] = [name, keys.tolist(), *rest]
    if torch.cuda.is_available():
        state["cuda"] = _text(torch.cuda.get_rng_state())
    return state


def _set(state: dict[str, Any]) -> None:
    version, internal, gauss = state["python"]
    random.setstate((version, tuple(internal), gauss))
    torch.set_rng_state(_bytes(state["torch"]))
    if "numpy" in state and "numpy" in sys.modules:
        sys.modules["numpy"].random.set_state(tuple(state["numpy"]))
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state(_bytes(state["cuda"]))


def _text(state: torch.Tensor) -> str:
    return base64.b64encode(bytes(state.tolist())).decode()


def _bytes(text: str) -> torch.Tensor:
    return torch.tensor(list(base64.b64decode(text)), dtype=torch.uint8)

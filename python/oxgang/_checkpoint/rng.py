"""The state of the random generators of one rank."""

from __future__ import annotations

import hashlib
import random
import sys
from typing import Any

import torch


class RandomState:
    """Python's, NumPy's (where imported), torch's and the current GPU's generators, saved per rank."""

    per_rank = True

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the generators."""
        state: dict[str, Any] = {"python": random.getstate(), "torch": torch.get_rng_state()}
        if "numpy" in sys.modules:
            state["numpy"] = sys.modules["numpy"].random.get_state()
        if torch.cuda.is_initialized():
            state["cuda"] = torch.cuda.get_rng_state()
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Put the generators where they were; a GPU that was not there then follows from torch's."""
        random.setstate(state["python"])
        torch.set_rng_state(state["torch"])
        if "numpy" in state and "numpy" in sys.modules:
            sys.modules["numpy"].random.set_state(state["numpy"])
        if not torch.cuda.is_available():
            return
        if "cuda" in state:
            torch.cuda.set_rng_state(state["cuda"])
        else:
            torch.cuda.manual_seed(_seed(state, 0))

    def derive(self, state: dict[str, Any], rank: int) -> None:
        """Seed the generators of a rank that was not there when state, of rank 0, was saved."""
        seed = _seed(state, rank)
        random.seed(seed)
        torch.manual_seed(seed)  # of all devices
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed % 2**32)


def _seed(state: dict[str, Any], rank: int) -> int:
    """Return a seed that differs by rank and by moment, and is the same in every try."""
    digest = hashlib.sha256(state["torch"].numpy().tobytes())
    digest.update(rank.to_bytes(8, "big"))
    return int.from_bytes(digest.digest()[:8], "big") >> 1

"""Measures gradient norms in training, for the noise scale.

The small gradients are of single passes of single ranks, before they are added up. If a step
has only one pass of one rank, the gradients of two consecutive steps are used. A measured step
reads the gradients twice. Other steps cost nothing, because hooks exist only during a measured
step. Adam's gradients are preconditioned as in Adam (Pollux section 3.1).
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import torch

from .batching import Micro
from .noise import Parts

SHARE = 0.0025  # of the host's time in steps, maximum for measuring
MOST_APART = 64  # steps
FIRST_APART = 8  # steps, at most, until the noise scale is known
NOTHING = Parts()


class Meter:
    """Measures norms. pairs: also measure steps of one pass, which keeps their gradients for
    one step."""

    def __init__(self, parameters: Iterable[torch.Tensor], optimizer: Any, world: int, pairs: bool) -> None:
        self._parameters = [p for p in parameters if p.requires_grad]
        self._optimizer, self._world, self._pairs = optimizer, world, pairs
        self._hooks: list[Any] = []
        self._norms: list[torch.Tensor] = []
        self._passes: list[tuple[torch.Tensor, float, int]] = []  # squared norm, weight, samples
        self._kept: tuple[list[torch.Tensor | None], int] | None = None
        self._pending: tuple[list[torch.Tensor], list[float]] | None = None
        self._measuring = False
        self._scale: dict[torch.Tensor, torch.Tensor] = {}
        self.cost = 0.0  # seconds of the host in the last measured step

    def start(self, measure: bool, micro: Micro) -> None:
        """A step begins."""
        self._passes, self._measuring = [], measure or self._kept is not None
        many = self._world > 1 or not (micro.first and micro.last)
        if not self._measuring or (not many and not self._pairs):
            self._measuring = False
            return
        began = time.perf_counter()
        self._scale = preconditioner(self._optimizer)
        if many:
            self._kept = None
            self._hooks = [p.register_hook(self._hook(p)) for p in self._parameters]  # type: ignore[no-untyped-call]
        self.cost = time.perf_counter() - began

    def _hook(self, p: torch.Tensor) -> Any:
        def note(g: torch.Tensor) -> None:
            began = time.perf_counter()
            self._norms.append(self._norm(g, p))
            self.cost += time.perf_counter() - began

        return note

    def _norm(self, g: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
        g = g.detach()
        if g.is_sparse:
            g = g.coalesce().values()
        elif p in self._scale:
            g = g * self._scale[p]
        norm: torch.Tensor = torch.linalg.vector_norm(g, dtype=torch.float32)
        return norm

    def passed(self, micro: Micro) -> None:
        """A pass is over."""
        if not self._hooks:
            return
        if micro.size > 0 and self._norms:
            self._passes.append((torch.stack(self._norms).square().sum(), micro.weight, micro.size))
        self._norms = []

    def finish(self, micro: Micro) -> None:
        """Call when a step's gradients are complete, before the optimiser's step."""
        if not self._measuring:
            return
        began = time.perf_counter()
        if self._hooks:
            self._drop_hooks()
            self._from_passes(micro)
        else:
            self._from_pair(micro)
        self.cost += time.perf_counter() - began

    def _from_passes(self, micro: Micro) -> None:
        if not self._passes:  # no sample for this rank
            self._pending = ([], [0.0, 0.0, 0.0, float(micro.batch)])
            return
        sqr = torch.stack([n / w**2 for n, w, _ in self._passes]).sum()
        inverse = sum(1 / n for _, _, n in self._passes)
        self._pending = ([sqr, self._squared([p.grad for p in self._parameters])],
                         [inverse, float(len(self._passes)), float(micro.batch)])

    def _from_pair(self, micro: Micro) -> None:
        grads = [p.grad for p in self._parameters]
        kept, self._kept = self._kept, None
        if kept is None:
            copies = [None if g is None else g.clone() for g in grads]  # clipping changes them in place
            self._kept = (copies, micro.batch)
            return
        before, size = kept
        if size != micro.batch:
            return
        half = [None if a is None or b is None else (a + b) / 2 for a, b in zip(before, grads, strict=True)]
        self._pending = ([self._squared(before) + self._squared(grads), self._squared(half)],
                         [2 / size, 2.0, 2.0 * size])

    def _squared(self, grads: list[torch.Tensor | None]) -> torch.Tensor:
        norms = [self._norm(g, p) for g, p in zip(grads, self._parameters, strict=True) if g is not None]
        return torch.stack(norms).square().sum() if norms else torch.zeros(())

    def take(self) -> Parts:
        """Returns the norms of the last measured step, once; waits for the device."""
        if self._pending is None:
            return NOTHING
        (norms, rest), self._pending = self._pending, None
        if not norms:
            return Parts(samples=rest[-1])
        sqr, big = torch.stack(norms).tolist()
        return Parts(sqr, rest[0], rest[1], big, rest[2])

    def abandon(self) -> None:
        """Call when a step is interrupted."""
        self._drop_hooks()
        self._norms, self._passes, self._kept = [], [], None

    def _drop_hooks(self) -> None:
        for h in self._hooks:
            h.remove()
        self._hooks = []

    def every(self, step_time: float, known: bool) -> int:
        """Steps between measurements, so that they take at most SHARE of the time."""
        most = MOST_APART if known else FIRST_APART
        if step_time <= 0:
            return most
        return max(1, min(most, int(self.cost / (SHARE * step_time)) + 1))


def preconditioner(optimizer: Any) -> dict[torch.Tensor, torch.Tensor]:
    """The factors by which Adam multiplies gradients, without the learning rate. Empty for
    other optimisers, and before Adam's first step."""
    scales: dict[torch.Tensor, torch.Tensor] = {}
    for group in optimizer.param_groups:
        betas, eps = group.get("betas"), group.get("eps", 1e-8)
        for p in group["params"]:
            state = optimizer.state.get(p, {})
            if betas is None or "exp_avg_sq" not in state or "step" not in state:
                continue
            bias = 1 - betas[1] ** float(state["step"])
            if bias > 0:
                scales[p] = ((state["exp_avg_sq"] / bias).sqrt_() + eps).reciprocal_()
    return scales

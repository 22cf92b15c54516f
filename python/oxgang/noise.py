"""The gradient noise scale, from norms of small and large gradients.

The gradient of n samples has E|g_n|^2 = |G|^2 + tr(S)/n. So its norms at two sizes give |G|^2
and tr(S), and phi = tr(S)/|G|^2 in samples. Sources: McCandlish et al. 2018, An Empirical Model
of Large-Batch Training, appendix A.1; Pollux section 3.1, for the preconditioned gradient
(PGNS), efficiency and the statistics relative to B0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Parts:
    """Norms of one batch. Of the gradients of its `count` parts: the sums of their squared
    norms and of 1/size. And the squared norm of the gradient of all `samples`. They add up over
    ranks, except big_sqr and samples."""

    sqr_sum: float = 0.0
    inverse_sum: float = 0.0
    count: float = 0.0
    big_sqr: float = 0.0
    samples: float = 0.0


def split(p: Parts) -> tuple[float, float] | None:
    """Returns unbiased estimates of |G|^2 and tr(S), which may be negative by chance. None if
    they cannot be computed: only one part, or numbers that are not finite."""
    if p.count < 2 or p.samples <= 0:
        return None
    small, inverse = p.sqr_sum / p.count, p.inverse_sum / p.count
    apart = inverse - 1 / p.samples
    if apart <= 1e-12 * inverse:
        return None
    trace = (small - p.big_sqr) / apart
    sqr = p.big_sqr - trace / p.samples
    return (sqr, trace) if math.isfinite(sqr) and math.isfinite(trace) else None


class Noise:
    """Smoothed gradient statistics, relative to the initial batch size of init samples.

    Both are moving means without the bias of their start: a plain mean of the first
    observations, then of about the last 1 / (1 - smoothing). Results are never negative.
    """

    def __init__(self, init: int, smoothing: float = 0.99, least: int = 8) -> None:
        self._init, self._smoothing, self._least = init, smoothing, least
        self._sqr = self._trace = self._weight = 0.0
        self._seen = 0

    def observe(self, p: Parts) -> bool:
        """Adds the norms of a batch; returns whether they were usable."""
        pair = split(p)
        if pair is None:
            return False
        keep = self._smoothing
        self._sqr = keep * self._sqr + (1 - keep) * pair[0]
        self._trace = keep * self._trace + (1 - keep) * pair[1]
        self._weight = keep * self._weight + (1 - keep)
        self._seen += 1
        return True

    @property
    def known(self) -> bool:
        """Whether there are enough observations."""
        return self._seen >= self._least

    def statistics(self) -> tuple[float, float]:
        """Returns (grad_sqr, grad_var): |G|^2, and the variance of the gradient of init
        samples. (0, 0) without enough observations."""
        if not self.known:
            return 0.0, 0.0
        sqr, trace = self._sqr / self._weight, self._trace / self._weight
        if not (math.isfinite(sqr) and math.isfinite(trace)):
            return 0.0, 0.0
        return max(sqr, 0.0), max(trace, 0.0) / self._init

    def gain(self, batch: float) -> float:
        """The number of steps with init samples that one step with batch samples is worth, from
        1 to batch/init; 1 if unknown. Source: AdaScale, as in Pollux section 3.1."""
        sqr, var = self.statistics()
        scale = batch / self._init
        if sqr + var <= 0 or scale <= 0:
            return 1.0
        return (var + sqr) / (var / scale + sqr) if sqr > 0 else scale

    def efficiency(self, batch: float) -> float:
        """Progress per sample at a batch size relative to init: (phi + init)/(phi + batch).
        Source: Pollux section 3.1, Eq. 3."""
        return self.gain(batch) * self._init / batch

    def state(self) -> list[float]:
        """The state that `restore` takes."""
        return [self._sqr, self._trace, self._weight, float(self._seen)]

    def restore(self, state: list[float]) -> None:
        """Continues from a state. An invalid state is ignored; then nothing is known."""
        try:
            sqr, trace, weight, seen = (float(v) for v in state)
        except (TypeError, ValueError):
            return
        if math.isfinite(sqr + trace) and 0 < weight <= 1 and 0 <= seen < math.inf:
            self._sqr, self._trace, self._weight, self._seen = sqr, trace, weight, int(seen)


RULES = ("sqrt", "adascale", "none")


def factor(rule: str, scale: float, gain: float) -> float:
    """The factor of the learning rate at scale times the initial batch size. Source: AdaScale
    for SGD, the square root for Adam (Sia section 3.3.5)."""
    if rule == "adascale":
        return gain
    return math.sqrt(scale) if rule == "sqrt" else 1.0

"""The training data. The order depends only on seed and data pass, and the plan divides it."""

from __future__ import annotations

import resource
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils.data import DataLoader

from .batching import Micro, Plan, cut
from .environment import Environment
from .rng import mix


@dataclass
class Position:
    """A job's position in its data. An epoch of an adaptive job ends by progress, so it may
    take more than one pass over the data. For other jobs an epoch is one data pass."""

    step: int = 0  # optimiser steps done
    progress: float = 0.0  # samples at the efficiency of the initial batch
    epoch: int = 0
    data_pass: int = 0
    sample: int = 0  # next of the data pass, in its order


class Loader:
    """Yields the local micro-batches of an epoch, starting at the position.

    The position moves when a step is complete, not when data is read. So data that was read but
    not used is read again, after a restart or a change of the plan.
    """

    def __init__(self, dataset: Any, plan: Plan, position: Position, env: Environment, device: torch.device,
                 seed: int, shuffle: bool, drop_last: bool, options: dict[str, Any]) -> None:
        self.plan, self.position, self.env, self.device = plan, position, env, device
        self.samples = _length(dataset)
        self.seed, self._shuffle, self._drop_last = seed, shuffle, drop_last
        if self.samples < (plan.limits.max if drop_last else 1):
            raise ValueError(f"dataset of {self.samples} samples, want at least one batch")
        self.current: Micro | None = None
        self.wait = 0.0  # seconds for the data of current
        self.replan = False  # the plan has changed since data was read ahead
        self._cuts = _Cuts(self)
        self._generator = torch.Generator()
        self._data = self._loader(dataset, dict(options))

    def _loader(self, dataset: Any, options: dict[str, Any]) -> Any:
        workers = options.pop("num_workers", None)
        if workers is None:  # one core is for the training process
            workers = max(0, int(self.env.cpus) - 1)
        options.setdefault("pin_memory", self.device.type == "cuda")
        if workers > 0:
            options["worker_init_fn"] = _Begin(options.get("worker_init_fn"))
        return DataLoader(dataset, batch_sampler=self._cuts, num_workers=workers, generator=self._generator, **options)

    def __len__(self) -> int:
        """Micro-batches of this rank in one data pass, under the current plan."""
        batch = self.plan.total(self.position.epoch)
        whole, rest = divmod(self.samples, batch)
        local = self.plan.local(self.position.epoch)
        count = whole * (self.plan.used(self.position.epoch).accumulation + 1)
        if rest and not self._drop_last:
            count += -(-(-(-rest // self.env.world)) // local)
        return count

    def __iter__(self) -> Iterator[Any]:
        while self._rest():
            yield from self._run()

    def _rest(self) -> bool:
        """Whether the epoch has more data. Starts the next data pass if necessary."""
        p = self.position
        more = self._next_stop(p.sample) > p.sample
        if not self.plan.limits.adaptive:
            return more
        if p.progress >= (p.epoch + 1) * self.samples:
            return False
        if not more:
            p.data_pass, p.sample = p.data_pass + 1, 0
        return True

    def _run(self) -> Iterator[Any]:
        """Yields until the data pass, the epoch or this plan ends."""
        self.replan, p = False, self.position
        self._generator.manual_seed(mix(self.seed, p.data_pass, p.sample, self.env.rank, 1))
        data = iter(self._data)
        while True:
            began = time.perf_counter()
            x = next(data, None)
            if x is None:
                return
            self.current, self.wait = self._cuts.ahead.popleft(), time.perf_counter() - began
            micro = self.current
            yield move(x, self.device)
            if self.current is micro:
                raise RuntimeError("a micro-batch was left out, want `with job.step():` around the work on each")
            if micro.last and (self.replan or self._epoch_over()):
                return

    def _epoch_over(self) -> bool:
        p = self.position
        return self.plan.limits.adaptive and p.progress >= (p.epoch + 1) * self.samples

    def order(self, data_pass: int) -> list[int]:
        """The indices of the dataset in the order of a data pass."""
        if not self._shuffle:
            return list(range(self.samples))
        g = torch.Generator().manual_seed(mix(self.seed, data_pass))
        return torch.randperm(self.samples, generator=g).tolist()

    def _next_stop(self, start: int) -> int:
        """The end of the global batch from start; start if no full batch is left."""
        stop = start + self.plan.total(self.position.epoch)
        if stop <= self.samples:
            return stop
        return start if self._drop_last else self.samples

    def micros(self) -> Iterator[Micro]:
        """The remaining passes of this rank in the data pass."""
        start, epoch = self.position.sample, self.position.epoch
        while (stop := self._next_stop(start)) > start:
            yield from cut(start, stop, self.env.world, self.env.rank, self.plan.local(epoch))
            start = stop

    def fit_cache(self, cache: Callable[[int], Any]) -> None:
        """Tells a cache how many bytes it may hold: the worker's memory that the process does
        not use yet, minus a reserve of a tenth of the worker's memory."""
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        if self.env.memory > 0:
            cache(max(0, self.env.memory - used - self.env.memory // 10))


class _Cuts:
    """The batch sampler: indices of micro-batches, and the micro-batches read ahead in `ahead`."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self.ahead: deque[Micro] = deque()

    def __iter__(self) -> Iterator[list[int]]:
        ahead: deque[Micro] = deque()
        self.ahead = ahead
        order = self._loader.order(self._loader.position.data_pass)
        for m in self._loader.micros():
            ahead.append(m)
            yield order[m.start : m.stop] or [order[m.batch_start]]

    def __len__(self) -> int:
        return len(self._loader)


class _Begin:
    """The start function of DataLoader workers: they ignore SIGTERM, which the training process
    obeys."""

    def __init__(self, then: Callable[[int], None] | None) -> None:
        self._then = then

    def __call__(self, worker: int) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if self._then is not None:
            self._then(worker)


def _length(dataset: Any) -> int:
    try:
        return len(dataset)
    except TypeError:
        raise ValueError(f"dataset {type(dataset).__name__} has no length, want one with __len__ and __getitem__") from None


def move(x: Any, device: torch.device) -> Any:
    """Returns x with its tensors on a device."""
    if device.type == "cpu":
        return x
    if isinstance(x, torch.Tensor):
        return x.to(device, non_blocking=True)
    if isinstance(x, dict):
        return type(x)((k, move(v, device)) for k, v in x.items())
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(move(v, device) for v in x))
    if isinstance(x, (list, tuple)):
        return type(x)(move(v, device) for v in x)
    return x

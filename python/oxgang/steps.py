"""One optimiser step: its passes, and what all ranks agree on at its end."""

# No postponed annotations: DistributedDataParallel reads the annotations of its hook.

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from .batching import Micro, Plan
from .control import Row
from .gradients import Meter
from .loader import Loader
from .noise import Noise, Parts, factor
from .timing import StepTimer, Times


def wrap(model: torch.nn.Module, device: torch.device, timer: StepTimer, options: dict[str, Any]) -> DDP:
    """Returns model wrapped for gradient exchange; the timer observes the last part of the
    exchange. Gradients are summed, not averaged, because the losses are weighted already."""
    if device.type == "cuda":
        options = {"device_ids": [device.index], **options}
    wrapped = DDP(model, **options)

    def exchange(
        state: Any,
        bucket: dist.GradBucket,  # type: ignore[name-defined]
    ) -> torch.futures.Future[torch.Tensor]:
        if bucket.is_last():
            timer.ready()
        work = dist.all_reduce(bucket.buffer(), group=state, async_op=True)
        future: torch.futures.Future[torch.Tensor] = work.get_future().then(lambda f: f.value()[0])
        return future

    wrapped.register_comm_hook(wrapped.process_group, exchange)
    return wrapped


class Steps:
    """The passes of one model and its optimiser."""

    def __init__(self, model: torch.nn.Module, optimizer: Any, rule: str, loader: Loader, noise: Noise,
                 meter: Meter, timer: StepTimer) -> None:
        self.model, self._optimizer, self._rule = model, optimizer, rule
        self._loader, self._noise, self._meter, self._timer = loader, noise, meter, timer
        self._in_pass = False
        self._backwards = 0
        self.every = 4  # steps from one measurement of gradients to the next

    @contextmanager
    def one_pass(self) -> Iterator[Micro]:
        """A pass over the loader's current micro-batch. Only the last pass exchanges gradients."""
        micro = self._loader.current
        if micro is None or self._in_pass:
            raise RuntimeError("job.step() without a micro-batch of job.loader, want it once around the work on each")
        if micro.first:
            self._meter.start(self._loader.position.step % self.every == 0, micro)
        self._timer.begin(self._loader.wait)
        self._in_pass, self._backwards = True, 0
        quiet = not micro.last and isinstance(self.model, DDP)
        try:
            with self.model.no_sync() if quiet else nullcontext():  # type: ignore[operator]
                yield micro
        except BaseException:
            self._meter.abandon()
            raise
        finally:
            self._in_pass = False
        self._loader.current = None
        if self._backwards == 0:
            raise RuntimeError("job.step() without job.backward(loss), want it once in each")
        self._meter.passed(micro)
        if not micro.last:
            self._timer.end(stepped=False)

    def backward(self, loss: torch.Tensor) -> None:
        """Adds the gradient of a mean loss over the current micro-batch, weighted by its
        samples."""
        micro = self._loader.current
        if micro is None or not self._in_pass:
            raise RuntimeError("job.backward outside job.step(), want it in `with job.step():`")
        self._backwards += 1
        weight = micro.weight
        (loss if weight == 1 else loss * weight).backward()  # type: ignore[no-untyped-call]
        if micro.last:
            self._timer.reduced()

    def finish(self, micro: Micro, rows: list[Row]) -> None:
        """The optimiser's step, after the last pass. Moves the position."""
        if any(r.parts for r in rows):
            self._noise.observe(together(rows))
        self._meter.finish(micro)
        plan, p = self._loader.plan, self._loader.position
        batch = plan.total(p.epoch)
        scale = batch / plan.limits.init
        self._apply(factor(self._rule, scale, self._noise.gain(batch)) if scale != 1 else 1.0)
        self._optimizer.zero_grad(set_to_none=True)
        p.progress += micro.batch * efficiency(plan, self._noise, batch)
        p.step, p.sample = p.step + 1, micro.batch_stop
        self._timer.end(stepped=True, following=bool(rows[0].timed))

    def _apply(self, rate: float) -> None:
        """Steps with the learning rates times rate, and restores them."""
        groups = self._optimizer.param_groups
        before = [g["lr"] for g in groups]
        if rate != 1:
            for g in groups:
                g["lr"] = g["lr"] * rate
        try:
            self._optimizer.step()
        finally:
            for g, lr in zip(groups, before, strict=True):
                g["lr"] = lr


def efficiency(plan: Plan, noise: Noise, batch: int) -> float:
    """Progress per sample: from the gradient noise if the scheduler may choose batch sizes, 1
    if the user has chosen them."""
    return noise.efficiency(batch) if plan.limits.adaptive else 1.0


def together(rows: list[Row]) -> Parts:
    """The norms of one batch, from the measurements of all ranks. All ranks have the same norm
    of the whole gradient; the first rank that measured provides it, so that all use one number."""
    big = next((r for r in rows if r.parts > 0), rows[0])
    return Parts(sum(r.sqr_sum for r in rows), sum(r.inverse_sum for r in rows),
                 sum(r.parts for r in rows), big.big_sqr, big.samples)


def slowest(rows: list[Row]) -> Times:
    """The times of the slowest rank, and the longest wait for data."""
    r = min(rows, key=lambda r: r.sync_time)
    return Times(r.step_time, r.sync_time, max(r.wait_time for r in rows))

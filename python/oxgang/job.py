"""A training job: ordinary PyTorch with five calls (see the package's first lines)."""

from __future__ import annotations

import logging
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import torch

from . import environment, group, trainer
from ._checkpoint.error import CheckpointError, Fenced
from .agent import Agent, poster
from .batching import Micro, Plan
from .control import CHECK, STEP, Control, Row
from .environment import Environment
from .gradients import NOTHING, Meter
from .loader import Loader, Position
from .noise import RULES, Noise
from .notice import EXIT, Watch
from .protocol import Batch, Checkpoint, Hello, Limits, Notice, Regime, Restored
from .reporting import Reporter, cover
from .rng import RandomState, mix, seed_all
from .saving import Saver, Store, place
from .steps import Steps, slowest, wrap
from .timing import LATE, NOT_TIMED, Pace, StepTimer
from .version import CLIENT

log = logging.getLogger("oxgang")

WELCOME = 2.0  # seconds to wait for the scheduler's first answer before training without it
FLUSH = 5.0  # seconds, at most, for the last messages

M = TypeVar("M", bound=torch.nn.Module)
O = TypeVar("O")


class Job:
    """One worker's view of its job. Made by `init`; one per process."""

    def __init__(self, env: Environment, seed: int, store: Store | None, seconds: float, steps: int) -> None:
        self.env, self.seed = env, seed
        self.rank, self.world = env.rank, env.world
        self.device = group.device(env)
        group.join(env, self.device)
        seed_all(mix(seed, env.rank))
        self.position = Position()
        self._control = Control(env.rank, env.world)
        self._watch = Watch(env.notice)
        self._watch.install()
        self._saver = Saver(store, seconds, steps) if store is not None else None
        self._agent = Agent(trainer.poster(env) if env.trainer else poster(env), env.generation) if env.scheduled and env.rank == 0 else None
        self._timer, self._pace = StepTimer(self.device), Pace()
        self._loader: Loader | None = None
        self._steps: Steps | None = None
        self._meter: Meter | None = None
        self._noise = Noise(1)
        self._reporter: Reporter | None = None
        self._scheduler: tuple[Any, str] = (None, "")
        self._restored: tuple[Restored, float] | None = None
        self._batches: deque[Batch | None] = deque(maxlen=LATE + 1)  # of the last steps; None: smaller, or not timed
        self._closed = False

    def loader(self, dataset: Any, batch_size: int, *, max_batch_size: int | None = None, local_max: int | None = None,
               adaptive: bool = False, schedule: Sequence[tuple[int, int]] = (), shuffle: bool = True,
               drop_last: bool = False, cache: Callable[[int], Any] | None = None, **options: Any) -> Loader:
        """Returns the training data as local micro-batches.

        batch_size is the global batch size, at any world size. schedule changes it, as (batch
        size, epochs) pairs. With adaptive=True the scheduler may choose it, from batch_size to
        max_batch_size. local_max is the maximum samples per pass of one replica, so that they
        fit into memory. cache is called with the bytes that a cache may hold, if the scheduler
        assigns memory. Other options are passed to torch's DataLoader; num_workers defaults to
        the assigned cores.
        """
        if self._loader is not None:
            raise RuntimeError("job.loader called twice, want it once: for the training data")
        most = max_batch_size if adaptive and max_batch_size is not None else batch_size
        most = max([most, *(b for b, _ in schedule)])
        limits = Limits(batch_size, most, 1, local_max if local_max is not None else most, adaptive)
        plan = Plan(limits, [Regime(b, e) for b, e in schedule], self.world)
        self._loader = Loader(dataset, plan, self.position, self.env, self.device, self.seed, shuffle, drop_last, options)
        if cache is not None:
            self._loader.fit_cache(cache)
        return self._loader

    def train(self, model: M, optimizer: O, scheduler: Any = None, rule: str = "sqrt", every: str = "epoch",
              **ddp: Any) -> tuple[M, O]:
        """Returns the model and the optimiser, with the state of the newest complete
        checkpoint. With several ranks the model is wrapped for gradient exchange.

        scheduler is stepped here, every "epoch" or "step": do not step it yourself. rule says
        how the learning rate follows a batch size other than the initial: "sqrt" (Adam),
        "adascale" (SGD) or "none". ddp has options of DistributedDataParallel.
        """
        if self._loader is None or self._steps is not None:
            raise RuntimeError("job.train, want it once, after job.loader")
        if rule not in RULES or every not in ("epoch", "step"):
            raise ValueError(f"rule {rule!r}, every {every!r}: want one of {', '.join(RULES)} and epoch or step")
        model.to(self.device)
        limits = self._loader.plan.limits
        self._noise = Noise(limits.init)
        self._scheduler = (scheduler, every)
        self._restore(model, optimizer, scheduler)
        wrapped: Any = wrap(model, self.device, self._timer, ddp) if self.world > 1 else model
        pairs = limits.adaptive or rule == "adascale"
        self._meter = Meter(model.parameters(), optimizer, self.world, pairs)
        self._steps = Steps(wrapped, optimizer, rule, self._loader, self._noise, self._meter, self._timer)
        return wrapped, optimizer

    def _restore(self, model: Any, optimizer: Any, scheduler: Any) -> None:
        assert self._loader is not None
        if self._saver is None:
            return
        parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler,
                 "rng": RandomState(self.rank, self.world, self.seed)}
        self._saver.parts = {k: v for k, v in parts.items() if v is not None}
        found = self._saver.load()
        if found is None:
            return
        meta, restored, seconds = found
        self.seed = self._loader.seed = place(self.position, meta)
        self._noise.restore(meta.get("noise", []))
        self._restored = (restored, seconds)

    def epochs(self, count: int) -> Iterator[int]:
        """Yields the remaining epochs of count, starting at the checkpoint's. Saves a
        checkpoint after the last one, but not if the loop is left by break."""
        if self._steps is None:
            raise RuntimeError("job.epochs, want it after job.train")
        self._greet(count)
        p, (scheduler, every) = self.position, self._scheduler
        try:
            while p.epoch < count:
                yield p.epoch
                if scheduler is not None and every == "epoch":
                    scheduler.step()
                p.epoch, p.data_pass, p.sample = p.epoch + 1, p.data_pass + 1, 0
            self._control.launch(self._row(CHECK))
            if self._control.wait()[0].fenced:
                self._leave_fenced()
            self._checkpoint()
        finally:
            self.close()

    def _greet(self, count: int) -> None:
        """Says hello, and starts with the batch that the scheduler wants."""
        assert self._loader is not None
        if self._agent is not None:
            plan = self._loader.plan
            restored, seconds = self._restored or (None, 0.0)
            schedule = cover([(r.batch_size, r.epochs) for r in plan.schedule], count)
            self._agent.hello(Hello(
                CLIENT, self.env.generation, self.world, plan.limits, tuple(Regime(*r) for r in schedule),
                count, float(count * self._loader.samples), restored, seconds))
            self._reporter = Reporter(self._agent, plan, self.position, self._noise)
            self._reporter.greet(self._agent.welcome(WELCOME))
        self.check()

    @contextmanager
    def step(self) -> Iterator[None]:
        """Use it around the work on one micro-batch. The last one of a global batch makes the
        optimiser's step, and handles reports, checkpoints and notices."""
        if self._steps is None:
            raise RuntimeError("job.step, want it after job.train")
        with self._steps.one_pass() as micro:
            if micro.last:
                self._control.launch(self._row(STEP))
            yield
        if micro.last:
            self._end_step(micro, self._control.wait())

    def backward(self, loss: torch.Tensor) -> None:
        """Use it instead of loss.backward(). loss is the mean over the micro-batch's samples."""
        if self._steps is None:
            raise RuntimeError("job.backward, want it in `with job.step():`")
        self._steps.backward(loss)

    def check(self) -> None:
        """Obeys a notice now, between steps. Call it in evaluation and other long loops,
        equally often on all ranks."""
        self._control.launch(self._row(CHECK))
        self._obey(self._control.wait())

    def _row(self, kind: float) -> Row:
        assert self._steps is not None and self._loader is not None and self._meter is not None
        want = self._listen() if self._reporter else self._loader.plan.wanted
        due = self._saver is not None and kind == STEP and self._saver.due(self.position.step + 1)
        fenced = self._agent is not None and self._agent.fenced
        times = self._timer.last()
        measure = self._meter.every(self._timer.recent, self._noise.known)
        timed = kind == STEP and self._pace.due()
        row = Row(kind, self._watch.seen(), fenced, due, want.local, want.accumulation, measure, timed)
        if kind == CHECK:
            return row
        parts = self._meter.take()
        if parts is NOTHING and times is NOT_TIMED:
            return row
        return row._replace(sqr_sum=parts.sqr_sum, inverse_sum=parts.inverse_sum, parts=parts.count,
                            big_sqr=parts.big_sqr, samples=parts.samples,
                            step_time=times.step, sync_time=times.sync, wait_time=times.wait)

    def _listen(self) -> Batch:
        """Handles the scheduler's answers; returns the batch to use."""
        assert self._reporter is not None
        self._reporter.listen()
        if self._reporter.notice is not None:
            self._watch.tell(self._reporter.notice)
        return self._reporter.want

    def _end_step(self, micro: Micro, rows: list[Row]) -> None:
        assert self._steps is not None and self._loader is not None
        if rows[0].fenced:
            self._leave_fenced()
        timed = self._timer.timing
        self._steps.finish(micro, rows)
        self._steps.every = int(rows[0].every)
        scheduler, every = self._scheduler
        if scheduler is not None and every == "step":
            scheduler.step()
        if self._reporter is not None:
            self._tell(self._reporter, micro, rows, timed)
        if rows[0].due and not any(r.notice for r in rows):
            self._try_checkpoint()
        self._obey(rows)

    def _tell(self, reporter: Reporter, micro: Micro, rows: list[Row], timed: bool) -> None:
        """Reports. times and batch are of the step LATE steps before."""
        assert self._loader is not None
        plan, epoch = self._loader.plan, self.position.epoch
        full = timed and micro.batch == plan.total(epoch)
        self._batches.append(plan.used(epoch) if full else None)
        if rows[0].step_time > 0:
            reporter.observe(slowest(rows), self._batches[0])

    def _obey(self, rows: list[Row]) -> None:
        """All ranks act on their shared decision: stop, or follow rank 0's plan."""
        assert self._loader is not None
        if rows[0].fenced:
            self._leave_fenced()
        if any(r.notice for r in rows):
            self._checkpoint()
            log.warning("oxgang: stopped on notice at step %d", self.position.step)
            self._leave(EXIT)
        plan, epoch = self._loader.plan, self.position.epoch
        if rows[0].local == plan.wanted.local and rows[0].accumulation == plan.wanted.accumulation:
            return
        before = (plan.total(epoch), plan.local(epoch))
        plan.wanted = Batch(int(rows[0].local), int(rows[0].accumulation))
        if before != (plan.total(epoch), plan.local(epoch)):
            self._loader.replan = True
            self._pace.restart()

    def _try_checkpoint(self) -> None:
        """Saves; collective. If saving fails, training continues, and a later step tries again."""
        try:
            self._checkpoint()
        except Fenced:
            raise
        except CheckpointError as e:
            if self.rank == 0:
                log.warning("oxgang: no checkpoint of step %d, training goes on: %s", self.position.step, e)

    def _checkpoint(self) -> None:
        """Saves, unless this step was saved already; collective."""
        if self._saver is None or self._loader is None or self._saver.saved(self.position.step):
            return
        p = self.position
        done = self._saver.save(p, self.seed, self._noise, self._loader.plan.total(p.epoch))
        if self._agent is not None:
            self._agent.checkpoint(Checkpoint(
                0, p.step, float(p.progress), p.epoch, done.bytes, done.seconds,
                os.path.basename(done.path), done.checksum))

    def _leave_fenced(self) -> None:
        self._leave(f"oxgang: another generation owns job {self.env.job}: stopped at step {self.position.step}, nothing written")

    def _leave(self, code: int | str) -> None:
        self.close(self._watch.notice())
        group.part()
        raise SystemExit(code)

    def close(self, notice: Notice | None = None) -> None:
        """Sends the last messages and restores the handler of SIGTERM. Called after the last
        epoch."""
        if self._closed:
            return
        self._closed = True
        if self._agent is not None:
            if self._reporter is not None:
                self._reporter.close()
            left = notice.deadline - time.time() - 1 if notice else FLUSH
            self._agent.close(min(max(left, 0.5), FLUSH))
        self._watch.restore()


def init(seed: int = 0, checkpoints: str | Store | None = None, checkpoint_seconds: float = 60.0,
         checkpoint_steps: int = 0) -> Job:
    """Returns this worker's job: rank, world, device and process group, from the environment.

    Without a scheduler in the environment everything works except reports. checkpoints is a
    directory (default: the scheduler's) or a store. Checkpoints are saved every
    checkpoint_seconds, every checkpoint_steps if not 0, on notice and at the end.
    """
    env = environment.read(os.environ)
    where = checkpoints if checkpoints is not None else env.checkpoints
    return Job(env, seed, _store(where), checkpoint_seconds, checkpoint_steps)


def _store(where: str | Store) -> Store | None:
    if not isinstance(where, (str, os.PathLike)):
        return where
    if not where:
        return None
    from .checkpoint import Checkpoints

    store: Store = Checkpoints(where, keep=2)
    return store

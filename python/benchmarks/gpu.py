"""What one GPU does: step times, timing by events, process groups, two trainings at once.

    python benchmarks/gpu.py profile --model resnet50      # a step at each local batch size, and with accumulation
    python benchmarks/gpu.py events --model gpt2           # the client's times next to clock times
    python benchmarks/gpu.py nccl                          # NCCL with one process, and with two on one GPU
    python benchmarks/gpu.py share --model resnet50 --batch 64

Each prints lines of JSON; times are in seconds. Models are real, their data are not: --model resnet50
needs torchvision, gpt2 needs transformers, and mlp needs nothing. Without a GPU all but nccl run on the CPU.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
import torch.multiprocessing as mp  # noqa: E402
from torch.nn.functional import cross_entropy  # noqa: E402

import oxgang  # noqa: E402
from oxgang import timing  # noqa: E402

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def say(**line: object) -> None:
    """Print a line of JSON."""
    print(json.dumps(line), flush=True)


def synchronize() -> None:
    """Wait for all that the GPU was told."""
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()


@dataclass
class Subject:
    """A model, its loss, and one sample of its data."""

    model: torch.nn.Module
    loss: Callable[[torch.nn.Module, torch.Tensor, torch.Tensor], torch.Tensor]
    x: torch.Tensor
    y: torch.Tensor

    def batch(self, size: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return a batch on the device, all of one sample."""
        x, y = (t.expand(size, *t.shape).contiguous().to(DEVICE) for t in (self.x, self.y))
        return x, y


def precision() -> AbstractContextManager[Any]:
    """Return the context in which losses are computed: bfloat16 where it is for matrices."""
    return torch.autocast(DEVICE.type, dtype=torch.bfloat16)


def classes(model: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the loss of a classifier."""
    with precision():
        return cross_entropy(model(x).float(), y)


def letters(model: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the loss of a language model."""
    with precision():
        loss: torch.Tensor = model(input_ids=x, labels=y).loss
    return loss


def subject(name: str) -> Subject:
    """Return what is trained."""
    torch.manual_seed(0)
    if name == "resnet50":
        from torchvision.models import resnet50

        return Subject(resnet50(), classes, torch.randn(3, 224, 224), torch.tensor(7))
    if name == "gpt2":
        from transformers import GPT2Config, GPT2LMHeadModel

        text = torch.randint(50257, (1024,))
        return Subject(GPT2LMHeadModel(GPT2Config()), letters, text, text)
    layers: list[torch.nn.Module] = [m for _ in range(4) for m in (torch.nn.Linear(1024, 1024), torch.nn.ReLU())]
    return Subject(torch.nn.Sequential(*layers, torch.nn.Linear(1024, 10)), classes, torch.randn(1024), torch.tensor(7))


class Training:
    """Plain training of a subject, without the client."""

    def __init__(self, of: Subject) -> None:
        self._of = of
        of.model.to(DEVICE).train()
        self._optimizer = torch.optim.AdamW(of.model.parameters(), lr=1e-5)

    def step(self, x: torch.Tensor, y: torch.Tensor, passes: int = 1) -> None:
        """Make an optimiser step of as many passes over a batch."""
        for _ in range(passes):
            self._of.loss(self._of.model, x, y).backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)

    def times(self, x: torch.Tensor, y: torch.Tensor, passes: int, seconds: float) -> list[float]:
        """Return the times of steps: as many as fit, 3 to 30, after two that do not count."""
        all_: list[float] = []
        until = time.perf_counter() + seconds
        while len(all_) < 5 or (time.perf_counter() < until and len(all_) < 32):
            synchronize()
            began = time.perf_counter()
            self.step(x, y, passes)
            synchronize()
            all_.append(time.perf_counter() - began)
        return all_[2:]


def profile(args: argparse.Namespace) -> None:
    """Print the time and the memory of a step at local batch sizes 1, 2, 4, ... until they do not fit."""
    of = subject(args.model)
    training, size, last = Training(of), 1, 0
    while size <= args.most:
        try:
            measure(args, training, of, size, 1)
        except torch.OutOfMemoryError:
            say(model=args.model, batch=size, fits=False)
            break
        last, size = size, 2 * size
    torch.cuda.empty_cache()
    for passes in (2, 4):
        measure(args, training, of, max(last // 4, 1), passes)


def measure(args: argparse.Namespace, training: Training, of: Subject, size: int, passes: int) -> None:
    """Print the time and the memory of steps."""
    x, y = of.batch(size)
    if DEVICE.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    times = training.times(x, y, passes, args.seconds)
    memory = torch.cuda.max_memory_allocated() if DEVICE.type == "cuda" else 0
    say(model=args.model, batch=size, passes=passes, steps=len(times), step=statistics.median(times),
        least=min(times), most=max(times), memory=memory)


class Repeated(torch.utils.data.Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """One sample many times over."""

    def __init__(self, of: Subject, length: int) -> None:
        self._of, self._length = of, length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, _: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self._of.x, self._of.y


def steps(of: Subject, size: int, count: int) -> Iterator[tuple[float, float]]:
    """Train with the client, and yield of each step the time that it says, and that of a clock."""
    timing.GAP = 0.0  # so every step is timed
    job = oxgang.init()
    loader = job.loader(Repeated(of, size * count), size, shuffle=False, num_workers=0)
    model, _ = job.train(of.model, torch.optim.AdamW(of.model.parameters(), lr=1e-5))
    before = 0.0  # what the client says is of the step before
    for _ in job.epochs(1):
        for x, y in loader:
            synchronize()
            began = time.perf_counter()
            with job.step():
                job.backward(of.loss(model, x, y))
            synchronize()
            yield job._timer.last().step, before
            before = time.perf_counter() - began


def events(args: argparse.Namespace) -> None:
    """Print what the client says that steps take, beside a clock around each, with the GPU waited for."""
    both = list(steps(subject(args.model), args.batch, args.steps))[5:]
    off = [said - clock for said, clock in both]
    deciles = statistics.quantiles(off, n=10)
    said, clock = (statistics.median(times) for times in zip(*both, strict=True))
    say(model=args.model, batch=args.batch, steps=len(off), said=said, clock=clock,
        off=statistics.median(off), off_p10=deciles[0], off_p90=deciles[-1])


def nccl(_: argparse.Namespace) -> None:
    """Print what NCCL says of a group of one process, and of two that share a GPU."""
    for world in (1, 2):
        try:
            mp.spawn(member, args=(world,), nprocs=world, daemon=True)  # type: ignore[no-untyped-call]
        except Exception as e:
            text = [line for line in str(e).splitlines() if "uplicate" in line or "Error" in line]
            say(nccl=world, works=False, error=(text or [str(e)])[-1][:300])


def member(rank: int, world: int) -> None:
    """Be a process of a group with NCCL on GPU 0."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(29600 + world))
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", rank=rank, world_size=world)
    x = torch.full((25_000_000,), float(rank + 1), device="cuda")
    began = time.perf_counter()
    for _ in range(10):
        dist.all_reduce(x)
    torch.cuda.synchronize()
    if rank == 0:
        say(nccl=world, works=True, version=".".join(map(str, torch.cuda.nccl.version())), all_reduce=(time.perf_counter() - began) / 10)
    dist.destroy_process_group()


def share(args: argparse.Namespace) -> None:
    """Print the samples a second of a training alone, and of each of two at once."""
    for at_once in (1, 2):
        begin = time.time() + args.lead
        command = [sys.executable, __file__, "run", "--model", args.model, "--batch", str(args.batch),
                   "--seconds", str(args.seconds), "--begin", str(begin)]
        runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(at_once)]
        rates = [json.loads(r.communicate()[0])["rate"] for r in runs]
        say(model=args.model, batch=args.batch, at_once=at_once, rates=rates, sum=sum(rates))


def run(args: argparse.Namespace) -> None:
    """Train from a time on for some seconds, and print the samples a second."""
    of = subject(args.model)
    training, (x, y) = Training(of), of.batch(args.batch)
    for _ in range(5):
        training.step(x, y)
    synchronize()
    late = time.time() - args.begin
    time.sleep(max(0.0, -late))
    began, done = time.perf_counter(), 0
    while time.perf_counter() < began + args.seconds:
        training.step(x, y)
        synchronize()
        done += args.batch
    say(rate=done / (time.perf_counter() - began), late=max(0.0, late))


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("profile", "events", "nccl", "share", "run"))
    parser.add_argument("--model", choices=("mlp", "resnet50", "gpt2"), default="mlp")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--most", type=int, default=1 << 20, help="largest batch size to try")
    parser.add_argument("--steps", type=int, default=105)
    parser.add_argument("--seconds", type=float, default=2.0, help="for one measurement")
    parser.add_argument("--lead", type=float, default=20.0, help="seconds until all have started")
    parser.add_argument("--begin", type=float, default=0.0, help="Unix time")
    args = parser.parse_args()
    {"profile": profile, "events": events, "nccl": nccl, "share": share, "run": run}[args.part](args)


if __name__ == "__main__":
    main()

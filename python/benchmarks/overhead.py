"""What the client costs: blocks of steps with and without it, in turn, in one run.

    python benchmarks/overhead.py [--world 1] [--width 1024] [--blocks 30] [--steps 5]

Both train copies of one model on the same data through DataLoader, with DDP where there
are several ranks; the client reports to nobody, through a socket that refuses.
Where there is a GPU both are on it, and are waited for at the end of each block.
Prints medians over pairs of neighbouring blocks, of the clock and of the CPU time of
rank 0 (all its threads), which other work on the machine disturbs less.
How many steps the client times goes by the clock, which goes on in the blocks without it: of short
steps it times twice as many as in training. Its first steps, which it times all, do not count.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
import torch.multiprocessing as mp  # noqa: E402
from torch.nn.functional import mse_loss  # noqa: E402

import oxgang  # noqa: E402
from oxgang import timing  # noqa: E402

BATCH = 128
CUDA = torch.cuda.is_available()


def network(width: int) -> torch.nn.Module:
    torch.manual_seed(0)
    layers: list[torch.nn.Module] = []
    for _ in range(4):
        layers += [torch.nn.Linear(width, width), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(width, 1))


class Data(torch.utils.data.Dataset):  # type: ignore[type-arg]
    """One sample many times over: reading it costs next to nothing."""

    def __init__(self, width: int, length: int) -> None:
        self._x, self._y, self._length = torch.randn(width), torch.zeros(1), length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, i: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self._x, self._y


def worker(rank: int, args: argparse.Namespace) -> None:
    os.environ["RANK"] = str(rank)
    torch.set_num_threads(1)
    with_client = client(args)
    without = plain(args, rank)
    wall: list[tuple[float, float]] = []
    cpu: list[tuple[float, float]] = []
    first = 2 + 2 * timing.ENOUGH // args.steps
    for block in range(args.blocks + first):
        times, busy = [0.0, 0.0], [0.0, 0.0]
        for which in ((0, 1) if block % 2 else (1, 0)):
            began, cpu_began = time.perf_counter(), time.process_time()
            for _ in range(args.steps):
                next((without, with_client)[which])
            if CUDA:
                torch.cuda.synchronize()
            if args.world > 1:
                dist.barrier()
            times[which] = (time.perf_counter() - began) / args.steps
            busy[which] = (time.process_time() - cpu_began) / args.steps
        if block >= first:
            wall.append((times[0], times[1]))
            cpu.append((busy[0], busy[1]))
    if rank == 0:
        print(f"world {args.world}")
        show("clock", wall)
        show("CPU time", cpu)
    sys.stdout.flush()
    os._exit(0)


def show(name: str, pairs: list[tuple[float, float]]) -> None:
    q = statistics.quantiles([b / a for a, b in pairs], n=4)
    extra = statistics.median(b - a for a, b in pairs) * 1e6
    least = [min(p[i] for p in pairs) for i in (0, 1)]
    print(f"  {name}: step {statistics.median(a for a, _ in pairs) * 1e3:.2f} ms without; ratio {q[1]:.4f} "
          f"(quartiles {q[0]:.4f} to {q[2]:.4f}), {extra:+.0f} us a step; of the least, {least[1] / least[0]:.4f}")


def client(args: argparse.Namespace):  # type: ignore[no-untyped-def]
    job = oxgang.init()
    model: torch.nn.Module = network(args.width)
    loader = job.loader(Data(args.width, BATCH * 10**5), BATCH, shuffle=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    model, optimizer = job.train(model, optimizer)

    def steps():  # type: ignore[no-untyped-def]
        for _ in job.epochs(1):
            for x, y in loader:
                with job.step():
                    job.backward(mse_loss(model(x), y))
                yield

    return steps()


def plain(args: argparse.Namespace, rank: int):  # type: ignore[no-untyped-def]
    device = torch.device("cuda" if CUDA else "cpu")
    model: torch.nn.Module = network(args.width).to(device)
    if args.world > 1:
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    data = Data(args.width, BATCH * 10**5)
    sampler = torch.utils.data.DistributedSampler(data, args.world, rank, shuffle=False)
    for x, y in torch.utils.data.DataLoader(data, BATCH // args.world, sampler=sampler, pin_memory=CUDA):
        mse_loss(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
        optimizer.zero_grad()
        yield


def main() -> None:
    p = argparse.ArgumentParser()
    p.add_argument("--world", type=int, default=1)
    p.add_argument("--width", type=int, default=1024)
    p.add_argument("--blocks", type=int, default=30)
    p.add_argument("--steps", type=int, default=5, help="of a block")
    args = p.parse_args()
    os.environ.update(WORLD_SIZE=str(args.world), MASTER_ADDR="127.0.0.1", MASTER_PORT="29517",
                      OXGANG_URL="http://127.0.0.1:9", OXGANG_TOKEN="none")
    mp.start_processes(worker, args=(args,), nprocs=args.world, start_method="spawn" if CUDA else "fork")


if __name__ == "__main__":
    main()

"""A multilayer perceptron learns a function: python train_mlp.py --epochs 10

Runs as it is, under torchrun, and under Oxgang. Rank 0 prints a line of JSON per epoch.
"""

from __future__ import annotations

import oxgang
import torch
from common import arguments, evaluate, say
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import TensorDataset


def data(samples: int, seed: int) -> TensorDataset:
    """Return points in 16 dimensions and the sines of three directions in them."""
    directions = torch.randn(16, 3, generator=torch.Generator().manual_seed(1)) / 2
    x = torch.randn(samples, 16, generator=torch.Generator().manual_seed(seed))
    return TensorDataset(x, torch.sin(x @ directions))


def mlp(width: int) -> nn.Module:
    """Return a perceptron with two hidden layers."""
    layers = [nn.Linear(16, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, 3))


def main() -> None:
    """Train."""
    args = arguments(__doc__, samples=8192, width=128)
    train, test = data(args.samples, args.seed), data(1024, args.seed + 1)

    job = oxgang.init(seed=args.seed)
    loader = job.loader(train, batch_size=args.batch_size)
    model = mlp(args.width)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    model, optimizer = job.train(model, optimizer)
    for epoch in job.epochs(args.epochs):
        for x, y in loader:
            with job.step():
                job.backward(mse_loss(model(x), y))
        now = evaluate(model, mse_loss, test, job.device)
        say(job.rank, epoch=epoch, loss=now, world=job.world)
    say(job.rank, done=True, final_loss=evaluate(model, mse_loss, test, job.device))


if __name__ == "__main__":
    main()

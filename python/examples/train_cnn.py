"""A convolutional network tells images apart: python train_cnn.py --epochs 10

Runs as it is, under torchrun, and under Oxgang. Rank 0 prints a line of JSON per epoch.
"""

from __future__ import annotations

import oxgang
import torch
from common import arguments, evaluate, say
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import TensorDataset


def data(samples: int, seed: int) -> TensorDataset:
    """Return noisy images of 16 by 16 with waves in one of four directions, and which it is."""
    g = torch.Generator().manual_seed(seed)
    label = torch.randint(4, (samples,), generator=g)
    angle = (label * torch.pi / 4).view(-1, 1, 1)
    line = torch.arange(16.0)
    along = line.view(1, 16, 1) * torch.sin(angle) + line.view(1, 1, 16) * torch.cos(angle)
    phase = 2 * torch.pi * torch.rand(samples, 1, 1, generator=g)
    waves = torch.sin(along + phase) + torch.randn(samples, 16, 16, generator=g)
    return TensorDataset(waves.unsqueeze(1), label)


def cnn(width: int) -> nn.Module:
    """Return a network without batch normalisation, which would depend on the cut of a batch."""
    first = [nn.Conv2d(1, width, 3, padding=1), nn.GroupNorm(1, width), nn.ReLU(), nn.MaxPool2d(2)]
    second = [nn.Conv2d(width, width, 3, padding=1), nn.GroupNorm(1, width), nn.ReLU()]
    return nn.Sequential(
        *first, *second, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 4)
    )


def main() -> None:
    """Train."""
    args = arguments(__doc__, samples=4096, width=16)
    train, test = data(args.samples, args.seed), data(512, args.seed + 1)

    job = oxgang.init(seed=args.seed)
    loader = job.loader(train, batch_size=args.batch_size)
    model = cnn(args.width)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs)
    model, optimizer = job.train(model, optimizer, scheduler=decay, rule="none")
    for epoch in job.epochs(args.epochs):
        for x, y in loader:
            with job.step():
                job.backward(cross_entropy(model(x), y))
        now = evaluate(model, cross_entropy, test, job.device)
        say(job.rank, epoch=epoch, loss=now, world=job.world)
    say(job.rank, done=True, final_loss=evaluate(model, cross_entropy, test, job.device))


if __name__ == "__main__":
    main()

"""A transformer learns to write: python train_transformer.py --epochs 10

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
    """Return texts of 33 letters out of 16: each follows from two before it, one in ten is noise."""
    g = torch.Generator().manual_seed(seed)
    text = torch.randint(16, (samples, 33), generator=g)
    noise = torch.rand(samples, 33, generator=g) < 0.1
    for i in range(2, 33):
        text[:, i] = torch.where(noise[:, i], text[:, i], (text[:, i - 1] + text[:, i - 2]) % 16)
    return TensorDataset(text[:, :-1], text[:, 1:])


class Transformer(nn.Module):
    """Two layers that look back."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.letter, self.place = nn.Embedding(16, width), nn.Embedding(32, width)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(width, 16)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        """Return the logits of every next letter."""
        length = text.shape[1]
        x = self.letter(text) + self.place(torch.arange(length, device=text.device))
        mask = nn.Transformer.generate_square_subsequent_mask(length, device=text.device)
        return self.out(self.layers(x, mask=mask, is_causal=True))


def loss_of(logits: torch.Tensor, letters: torch.Tensor) -> torch.Tensor:
    """Return the mean loss over all letters; all texts have as many."""
    return cross_entropy(logits.flatten(0, 1), letters.flatten())


def main() -> None:
    """Train."""
    args = arguments(__doc__, samples=4096, width=64)
    train, test = data(args.samples, args.seed), data(512, args.seed + 1)

    job = oxgang.init(seed=args.seed)
    loader = job.loader(train, batch_size=args.batch_size)
    model = Transformer(args.width)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model, optimizer = job.train(model, optimizer)
    for epoch in job.epochs(args.epochs):
        for x, y in loader:
            with job.step():
                job.backward(loss_of(model(x), y))
        now = evaluate(model, loss_of, test, job.device)
        say(job.rank, epoch=epoch, loss=now, world=job.world)
    say(job.rank, done=True, final_loss=evaluate(model, loss_of, test, job.device))


if __name__ == "__main__":
    main()

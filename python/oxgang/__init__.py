"""Elastic PyTorch training under the Oxgang scheduler: ordinary PyTorch with five calls.

    import oxgang

    job = oxgang.init()                                      # 1 ranks, device, process group
    loader = job.loader(dataset, batch_size=128)             # 2 the global batch, at any world size
    model, optimizer = job.train(model, optimizer)           # 3 DDP, and the last checkpoint
    for epoch in job.epochs(10):                             # 4 from where the checkpoint was
        for x, y in loader:
            with job.step():                                 # 5 a pass; the last of a batch steps
                job.backward(loss_fn(model(x), y))

The loss is the mean over the micro-batch. Importing this package does not import torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .version import VERSION as __version__

if TYPE_CHECKING:
    from .job import Job, init

__all__ = ["Job", "__version__", "init"]


def __getattr__(name: str) -> Any:
    if name in ("Job", "init"):
        from . import job

        return getattr(job, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

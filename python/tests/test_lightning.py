"""The hook into Lightning, in its real Trainer."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from hook_kit import FakeJob, check_times

lightning = pytest.importorskip("lightning.pytorch", reason="NOT TESTED: lightning is not here")

from oxgang.lightning import OxgangCallback, last_checkpoint  # noqa: E402


class Line(lightning.LightningModule):  # type: ignore[misc,name-defined]
    """A line."""

    def __init__(self) -> None:
        super().__init__()
        self.line = torch.nn.Linear(1, 1)

    def training_step(self, batch: Any, _: int) -> torch.Tensor:
        x, y = batch
        return (self.line(x) - y).square().mean()

    def validation_step(self, batch: Any, _: int) -> None:
        """Look at nothing."""

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self.parameters(), lr=0.1)


class Resumable(torch.utils.data.DataLoader[Any]):
    """Begins where it was: without state_dict Lightning goes back to the epoch's first batch."""

    seen = 0
    skip = 0

    def __iter__(self) -> Any:
        skip, self.skip = self.skip, 0
        for i, batch in enumerate(super().__iter__()):
            if i >= skip:
                self.seen = i + 1
                yield batch

    def state_dict(self) -> dict[str, int]:
        return {"seen": self.seen % len(self)}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.skip = state["seen"]


def _train(root: Path, job: FakeJob) -> torch.Tensor:
    torch.manual_seed(3)
    x = torch.linspace(0, 1, 64)[:, None]
    data = Resumable(torch.utils.data.TensorDataset(x, 2 * x), batch_size=4)
    model = Line()
    trainer = lightning.Trainer(
        accelerator="cpu", max_epochs=3, accumulate_grad_batches=2, logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
        callbacks=[OxgangCallback(job, root)],
    )  # fmt: skip
    trainer.fit(model, data, data, ckpt_path=last_checkpoint(root))
    return torch.nn.utils.parameters_to_vector(model.parameters()).detach()


@pytest.mark.parametrize("stop_after", [5, 8, 11])
def test_a_notice_saves_and_exits_and_the_next_run_goes_on(tmp_path: Path, stop_after: int) -> None:
    """Within the first epoch, at its end, and within the second."""
    whole = _train(tmp_path / "whole", FakeJob())
    job = FakeJob(stop_after)
    with pytest.raises(SystemExit) as e:
        _train(tmp_path / "cut", job)
    assert e.value.code == 75
    assert [samples for samples, _, _ in job.steps] == [8] * stop_after
    check_times(job)
    name = f"oxgang-{stop_after}.ckpt"
    assert [(m["step"], m["path"]) for m in job.acknowledged] == [(stop_after, name)]
    assert os.listdir(tmp_path / "cut") == [name]
    again = FakeJob()
    assert torch.equal(_train(tmp_path / "cut", again), whole)
    assert len(again.steps) == 24 - stop_after
    assert (job.begun, again.begun) == ((4, 1, 0, 24), (4, 1, stop_after, 24))
    assert (job.closed, again.closed) == (False, True)


def test_a_half_written_checkpoint_is_not_the_last(tmp_path: Path) -> None:
    assert last_checkpoint(tmp_path) is None
    with pytest.raises(SystemExit):
        _train(tmp_path, FakeJob(3))
    good = last_checkpoint(tmp_path)
    assert good == str(tmp_path / "oxgang-3.ckpt")
    half = Path(good).read_bytes()
    (tmp_path / "later.ckpt").write_bytes(half[: len(half) // 2])
    assert last_checkpoint(tmp_path) == good

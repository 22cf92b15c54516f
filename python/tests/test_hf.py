"""The hook into transformers, in its real Trainer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from checkpoint_kit import ENVIRONMENT
from hook_kit import FakeJob, check_times


class Data(torch.utils.data.Dataset[dict[str, torch.Tensor]]):
    """Sixty-four samples of a line."""

    def __len__(self) -> int:
        return 64

    def __getitem__(self, i: int) -> dict[str, torch.Tensor]:
        return {"x": torch.tensor([i / 64.0]), "labels": torch.tensor([i / 32.0])}


class Model(torch.nn.Module):
    """A line with dropout, which random states decide."""

    def __init__(self) -> None:
        super().__init__()
        self.line = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Dropout(0.2), torch.nn.Linear(8, 1))

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        out = self.line(x)
        return {"loss": (out - labels).square().mean(), "logits": out}


def _train(root: Path, job: FakeJob, **options: Any) -> torch.Tensor:
    transformers = pytest.importorskip("transformers", reason="NOT TESTED: transformers is not here")
    from oxgang.hf import OxgangCallback, last_checkpoint

    args = transformers.TrainingArguments(
        str(root), use_cpu=True, max_steps=10, per_device_train_batch_size=4,
        gradient_accumulation_steps=2, report_to="none", disable_tqdm=True, seed=3,
        **{"save_strategy": "no"} | options,
    )  # fmt: skip
    torch.manual_seed(3)
    trainer = transformers.Trainer(
        Model(), args, train_dataset=Data(), eval_dataset=Data(), callbacks=[OxgangCallback(job)]
    )
    trainer.train(resume_from_checkpoint=last_checkpoint(root))
    return torch.nn.utils.parameters_to_vector(trainer.model.parameters()).detach()


def test_a_notice_saves_and_exits_and_the_next_run_goes_on(tmp_path: Path) -> None:
    whole = _train(tmp_path / "whole", FakeJob())
    job = FakeJob(stop_after=5)
    with pytest.raises(SystemExit) as e:
        _train(tmp_path / "cut", job)
    assert e.value.code == 75
    assert [samples for samples, _, _ in job.steps] == [8] * 5
    check_times(job)
    assert [(m["step"], m["path"]) for m in job.acknowledged] == [(5, "checkpoint-5")]
    again = FakeJob()
    assert torch.equal(_train(tmp_path / "cut", again), whole)
    assert len(again.steps) == 5
    assert (job.begun, again.begun) == ((4, 1, 0, 10), (4, 1, 5, 10))
    assert (job.closed, again.closed) == (False, True)


def test_the_exit_does_not_wait_for_an_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transformers = pytest.importorskip("transformers", reason="NOT TESTED: transformers is not here")

    def evaluate(*_: Any, **__: Any) -> None:
        raise AssertionError("evaluated under notice")

    monkeypatch.setattr(transformers.Trainer, "evaluate", evaluate)
    with pytest.raises(SystemExit):
        _train(tmp_path, FakeJob(stop_after=4), eval_strategy="steps", eval_steps=4)
    with pytest.raises(SystemExit):
        _train(tmp_path, FakeJob(stop_after=2), eval_strategy="epoch")
    with pytest.raises(AssertionError, match="evaluated under notice"):
        _train(tmp_path, FakeJob(), eval_strategy="steps", eval_steps=7)


def test_periodic_checkpoints_are_acknowledged(tmp_path: Path) -> None:
    job = FakeJob()
    _train(tmp_path, job, save_strategy="steps", save_steps=4)
    assert [m["step"] for m in job.acknowledged] == [4, 8, 10]


def test_a_second_handler_of_sigterm_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="enable_jit_checkpoint is on, want it off"):
        _train(tmp_path, FakeJob(), enable_jit_checkpoint=True)


def test_a_half_written_checkpoint_is_not_the_last(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="NOT TESTED: transformers is not here")
    from oxgang.hf import last_checkpoint

    assert last_checkpoint(tmp_path) is None
    for step, state in ((9, '{"global_step": 9}'), (10, '{"global_st'), (11, None), ("x", "{}")):
        path = tmp_path / f"checkpoint-{step}"
        path.mkdir()
        if state is not None:
            (path / "trainer_state.json").write_text(state)
    assert last_checkpoint(tmp_path) == str(tmp_path / "checkpoint-9")


@pytest.mark.parametrize(("module", "extra"), [("transformers", "hf"), ("lightning", "lightning")])
def test_the_error_names_the_extra(module: str, extra: str) -> None:
    program = f"import sys; sys.modules['{module}'] = None; import oxgang.{extra}"
    run = subprocess.run(
        [sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert f"ImportError: oxgang.{extra} needs {module}: pip install 'oxgang[{extra}]'" in run.stderr

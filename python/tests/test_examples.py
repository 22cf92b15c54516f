"""The examples, from end to end: alone, on two workers, and stopped and started on others."""

from __future__ import annotations

import contextlib
import io
import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import run, values

EXAMPLES = Path(__file__).parents[1] / "examples"
SIZE = ["--samples", "200", "--batch-size", "64", "--width", "8"]


def _example(rank: int, name: str, flags: tuple[str, ...]) -> str:
    """Run an example in this process; return what it prints."""
    sys.argv, out = [name, *SIZE, *flags], io.StringIO()
    sys.path.insert(0, str(EXAMPLES))
    with contextlib.redirect_stdout(out):
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return out.getvalue()


def _run(name: str, world: int, *flags: str, **env: str) -> list[dict[str, Any]]:
    """Run an example in the environment that torchrun makes; return the lines of rank 0."""
    outputs = values(run(world, _example, name, flags, env=env))
    assert all(out == "" for out in outputs[1:])
    return [json.loads(line) for line in outputs[0].splitlines()]


@pytest.mark.parametrize("name", ["train_mlp.py", "train_cnn.py", "train_transformer.py"])
def test_one_worker_and_two_end_with_the_same_loss(name: str) -> None:
    one, two = _run(name, 1, "--epochs", "2"), _run(name, 2, "--epochs", "2")
    for lines, world in ((one, 1), (two, 2)):
        assert [line["epoch"] for line in lines[:-1]] == [0, 1]
        assert {line["world"] for line in lines[:-1]} == {world}
        assert lines[-1] == {"done": True, "final_loss": lines[-2]["loss"]}
    assert one[1]["loss"] < one[0]["loss"]
    assert two[-1]["final_loss"] == pytest.approx(one[-1]["final_loss"], rel=1e-5)


def test_a_checkpoint_of_one_worker_goes_on_at_two(tmp_path: Path) -> None:
    whole = _run("train_mlp.py", 1, "--epochs", "3")
    _run("train_mlp.py", 1, "--epochs", "2", OXGANG_CHECKPOINTS=str(tmp_path))
    rest = _run("train_mlp.py", 2, "--epochs", "3", OXGANG_CHECKPOINTS=str(tmp_path))
    assert [line.get("epoch") for line in rest] == [2, None]
    assert rest[-1]["final_loss"] == pytest.approx(whole[-1]["final_loss"], rel=1e-5)

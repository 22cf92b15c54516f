"""Simulations from Python: a policy, the Gymnasium environment, data frames, and what is on the guide's page."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from oxgang import simulator

ROOT = Path(__file__).parents[2]
SMALL = {"cluster": "t4:4x4", "generate.jobs": 6, "generate.span": "30m", "round": "5m", "jobs.applications": "cifar10,deepspeech2"}

pytest.importorskip("pandas", reason="pandas is not installed: pip install oxgang[runs]")
pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install oxgang[runs]")
pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install oxgang[gym]")


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program that OXGANG_PROGRAM names, or one that is built here."""
    named = os.environ.get("OXGANG_PROGRAM")
    if named:
        return named
    if shutil.which("go") is None:
        pytest.skip("neither OXGANG_PROGRAM nor go is there")
    built = tmp_path_factory.mktemp("bin") / "oxgang"
    subprocess.run(["go", "build", "-o", built, "./cmd/oxgang"], cwd=ROOT, check=True)
    return str(built)


@pytest.fixture(autouse=True)
def named(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OXGANG_PROGRAM", program)


def in_order(question: simulator.Question) -> list[dict[str, Any]]:
    return [{"id": job["id"]} for job in question["jobs"]]


@pytest.fixture(scope="module")
def folder(program: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run under two policies, with tables as Parquet."""
    out = tmp_path_factory.mktemp("run")
    flags = [*simulator.flags(SMALL), "--policy=fifo,srtf", f"--out={out}", "--results=parquet", "--report=", "-q"]
    subprocess.run([program, "simulate", *flags], check=True, capture_output=True)
    return out


def test_simulate_spends_the_time_of_the_measures() -> None:
    spent, seen = 0.0, []
    with simulator.Simulator({**SMALL, "seed": 3}) as s:
        assert s.greeting["gpus"] == [{"type": "t4", "total": 16, "per_node": 4}]
        for question in s:
            spent += question["job_s"]
            seen.append(question["round"])
            s.answer(in_order(question))
        assert s.ending is not None
        spent += s.ending["job_s"]
        measures = s.ending["measures"]
    assert measures["done"] == measures["jobs"] == s.greeting["jobs"]
    assert spent / 3600 == pytest.approx(measures["jct_mean_h"] * measures["jobs"])
    assert seen == sorted(set(seen))


def test_simulate_is_a_function_of_seed_and_answers() -> None:
    def last_first(question: simulator.Question) -> list[dict[str, Any]]:
        return [{"id": job["id"], "gpus": job["sizes"][0]["least"], "type": "t4"} for job in reversed(question["jobs"])]

    one, two = (simulator.simulate(last_first, {**SMALL, "seed": 4}) for _ in range(2))
    assert one == two
    assert one != simulator.simulate(last_first, {**SMALL, "seed": 5})
    assert one != simulator.simulate(in_order, {**SMALL, "seed": 4})


def test_errors_are_those_of_the_program() -> None:
    with pytest.raises(simulator.SimulatorError, match=r'unknown key "generate.job"'):
        simulator.simulate(in_order, {"generate.job": 6})
    with pytest.raises(simulator.SimulatorError, match=r'jobs\[0\]: there is no active job "nobody"'):
        simulator.simulate(lambda _: [{"id": "nobody"}], SMALL)
    s = simulator.Simulator(SMALL)
    s.close()
    s.close()
    assert s._child.returncode is not None


def test_environment_passes_the_checker() -> None:
    from gymnasium.utils.env_checker import check_env

    from oxgang.gym import ClusterEnv

    for actions in ("order", "gpus"):
        env = ClusterEnv(SMALL, jobs=4, actions=actions)
        check_env(env, skip_render_check=True)
        env.close()


def test_environment_is_deterministic_and_pays_the_completion_times() -> None:
    import numpy as np

    from oxgang.gym import ClusterEnv

    def episode(seed: int) -> tuple[list[float], list[Any], dict[str, float]]:
        env, draw = ClusterEnv(SMALL, jobs=4), np.random.default_rng(0)
        observation, info = env.reset(seed=seed)
        rewards, seen, ended = [], [observation["jobs"]], False
        while not ended:
            observation, reward, terminated, truncated, info = env.step(draw.uniform(-1, 1, 4).astype(np.float32))
            rewards.append(reward)
            seen.append(observation["jobs"])
            ended = terminated or truncated
        with pytest.raises(RuntimeError, match="call reset"):
            env.step(np.zeros(4, np.float32))
        env.close()
        return rewards, seen, info["measures"]

    rewards, seen, measures = episode(7)
    again, other = episode(7), episode(8)
    assert rewards == again[0] and np.array_equal(seen, again[1])
    assert rewards != other[0]
    # Up to the first question, which is at the first round, the job-seconds are in that question.
    assert -sum(rewards) <= measures["jct_mean_h"] * measures["jobs"] + 1e-9
    assert -sum(rewards) >= measures["jct_mean_h"] * measures["jobs"] - measures["jobs"] * 5 / 60


def test_the_highest_priority_is_served_first() -> None:
    import numpy as np

    from oxgang.gym import ClusterEnv

    env = ClusterEnv({**SMALL, "cluster": "t4:1x4", "jobs.max-gpus": 4}, jobs=8)
    observation, info = env.reset(seed=1)
    while len(info["question"]["jobs"]) < 3:
        observation, *_, info = env.step(np.zeros(8, np.float32))
    last = info["question"]["jobs"][2]["id"]
    *_, info = env.step(np.array([-1, -0.5, 1, *[-1] * 5], np.float32))
    held = {job["id"]: job["held_gpus"] for job in info["question"]["jobs"]}
    assert held[last] > 0
    env.close()


def test_runs_are_data_frames(folder: Path) -> None:
    from oxgang import runs

    r = runs.read(folder)
    sizes = r.jobs.groupby(["policy", "seed"]).size().unstack("seed")
    assert sizes.shape == (2, 3) and (sizes.loc["fifo"] == sizes.loc["srtf"]).all()
    assert set(r.jobs.outcome) == {"done"} and r.jobs.job.notna().all()
    assert (r.jobs.finished_s - r.jobs.submitted_s - r.jobs.jct_s).abs().max() < 1e-6
    held = r.allocations.assign(gpu_s=lambda a: (a.end_s - a.start_s) * a.gpus).groupby(["run", "job"]).gpu_s.sum()
    jobs = r.jobs.set_index(["run", "job"])
    assert (held - (jobs.gpu_s - jobs.profiling_gpu_s)).abs().max() < 1e-3
    assert (r.rounds.busy_gpus <= r.rounds.gpus).all() and set(r.rounds.gpus) == {16}


def test_a_journal_has_the_same_tables(folder: Path) -> None:
    import pandas as pd

    from oxgang import runs

    whole = runs.read(folder)
    for name in ("fifo", "srtf"):
        one = runs.read(folder / f"{name}.oxj")
        for table in runs.TABLES:
            mine = getattr(whole, table)
            pd.testing.assert_frame_equal(mine[mine.run == name].reset_index(drop=True), getattr(one, table))


def test_csv_and_parquet_are_the_same(folder: Path, program: str, tmp_path: Path) -> None:
    import pandas as pd

    from oxgang import runs

    flags = [*simulator.flags(SMALL), "--policy=fifo,srtf", f"--out={tmp_path}", "--results=csv", "--report=", "-q"]
    subprocess.run([program, "simulate", *flags], check=True, capture_output=True)
    for table in runs.TABLES:
        a, b = getattr(runs.read(folder), table), getattr(runs.read(tmp_path), table)
        pd.testing.assert_frame_equal(a, b, check_dtype=False)


def test_what_is_no_run_says_so(tmp_path: Path) -> None:
    from oxgang import runs

    with pytest.raises(FileNotFoundError, match="neither tables nor journals"):
        runs.read(tmp_path)
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        runs.read(tmp_path / "x.oxj")
    (tmp_path / "x.oxj").write_text("{}\n")
    with pytest.raises(simulator.SimulatorError, match="^error: "):
        runs.read(tmp_path)


def _loaded(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / "python" / "examples" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_learns_and_beats_random_on_seeds_that_it_has_not_seen(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import json

    monkeypatch.setattr(sys, "argv", ["learn_order.py", "--rounds", "2", "--people", "8"])
    _loaded("learn_order").main()
    hours = {line["order"]: line["mean_jct_h"] for line in map(json.loads, capsys.readouterr().out.splitlines())}
    assert hours["learned"] < 0.9 * hours["random"]


@pytest.fixture
def figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.chdir(tmp_path)
    yield _loaded("figure_jct")


def test_the_notebook_reproduces_the_figures_of_the_matrix(figure: Any) -> None:
    page = (ROOT / "docs" / "experiments" / "matrix.md").read_text()
    table = page.split("\n## philly-like\n")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| \**([0-9.]+)\** \|", table, re.MULTILINE))
    for policy, hours in figure.means.items():
        assert f"{hours:.3g}" == rows[policy], policy
    assert list(figure.curves) == list(figure.means.index) == figure.POLICIES
    assert all(0 < c.iloc[0] and c.iloc[-1] == 1 and c.is_monotonic_increasing for c in figure.curves.values())


def test_the_python_of_the_guide_runs(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "guide" / "research.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 3
    monkeypatch.chdir(tmp_path)
    for line in re.findall(r"^\$ oxgang (simulate .*)$", page, re.MULTILINE):
        subprocess.run([program, *line.split()], check=True, capture_output=True)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
    assert len(names["hours"]) == 6 and len(names["longest"]) == 5
    assert Path("mine/external.jobs.parquet").exists() and names["reward"] <= 0

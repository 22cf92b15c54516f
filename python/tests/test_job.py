"""Whole jobs, of one and several ranks, on gloo."""

import signal
import time
import types

import pytest
import torch
from conftest import Fake, run, values
from torch.utils.data import TensorDataset

import oxgang
from oxgang import reporting, timing
from oxgang._checkpoint.error import CheckpointError, Fenced
from oxgang.batching import Plan
from oxgang.control import STEP, Row
from oxgang.loader import Position
from oxgang.noise import Noise
from oxgang.protocol import Batch, Limits, Welcome
from oxgang.timing import Times


def data(n=50):
    g = torch.Generator().manual_seed(1)
    x = torch.randn(n, 4, generator=g)
    y = x @ torch.tensor([[1.0], [-2.0], [0.5], [3.0]]) + torch.randn(n, 1, generator=g)
    return TensorDataset(x, y, torch.arange(n))


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))


def train(job, epochs=2, batch=13, local=None, each=None, loader=(), **options):
    """Trains; returns this rank's part of the loss by step, its samples by step, and the
    final parameters. each(job) is called after every micro-batch."""
    batches = job.loader(data(), batch, local_max=local, **dict(loader))
    m = model()
    m, o = job.train(m, torch.optim.SGD(m.parameters(), lr=0.05, momentum=0.9), **options)
    losses, seen = {}, {}
    for _ in job.epochs(epochs):
        for x, y, index in batches:
            with job.step():
                micro, step = batches.current, job.position.step
                loss = torch.nn.functional.mse_loss(m(x), y)
                losses[step] = losses.get(step, 0) + float(loss.detach()) * micro.size / micro.batch
                seen.setdefault(step, []).extend(index.tolist()[: micro.size])
                job.backward(loss)
            if each:
                each(job)
    return losses, seen, [p.tolist() for p in m.parameters()]


@pytest.fixture(scope="module")
def plain():
    """The losses of the same training without oxgang, on the same order of data."""
    d = data()
    job = oxgang.init()
    order = job.loader(d, 13).order
    job.close()
    m = model()
    o = torch.optim.SGD(m.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for epoch in range(2):
        index = order(epoch)
        for i in range(0, 50, 13):
            x, y, _ = d[index[i : i + 13]]
            loss = torch.nn.functional.mse_loss(m(x), y)
            loss.backward()
            o.step()
            o.zero_grad()
            losses.append(float(loss.detach()))
    assert len(losses) == 8
    return losses


def _train(rank, options):
    return train(oxgang.init(), **options)


@pytest.mark.parametrize("world, local", [(1, None), (1, 5), (2, None), (2, 3), (3, 2), (4, None)])
def test_losses_are_those_of_one_process(plain, world, local):
    """To 1e-5, relative: float32 sums in another order. The batch of 13 divides by no world
    size, and the last of an epoch has 11 samples."""
    results = values(run(world, _train, {"local": local}))
    for step, loss in enumerate(plain):
        assert sum(r[0][step] for r in results) == pytest.approx(loss, rel=1e-5)
    for r in results[1:]:
        assert r[2] == results[0][2]
    for epoch in range(2):
        assert sorted(i for r in results for s in range(4 * epoch, 4 * epoch + 4) for i in r[1][s]) == list(range(50))


def test_a_batch_smaller_than_the_world():
    results = values(run(3, _train, {"epochs": 1, "batch": 2}))
    assert "nan" not in str(results[0][2])
    assert [sum(len(r[1][s]) for r in results) for s in range(25)] == [2] * 25


def _notified(rank, directory, at, who=0):
    """Trains; rank who is sent a SIGTERM after step at."""

    def each(job):
        if rank == who and job.position.step == at:
            signal.raise_signal(signal.SIGTERM)

    return train(oxgang.init(checkpoints=Fake(directory, rank)), each=each)


def meta(directory):
    return torch.load(directory / "newest", weights_only=False)[1]


@pytest.mark.parametrize("worlds", [(1, 2), (3, 1)])
def test_restarts_at_other_world_sizes_change_nothing(plain, tmp_path, worlds):
    """Notices after steps 2 and 5, in mid-epoch, and another world size after each."""
    for world, at in zip(worlds, (2, 5)):
        assert run(world, _notified, str(tmp_path), at) == [("exit", 75)] * world
        assert meta(tmp_path)["step"] == at + 1, "the step after the signal"
    results = values(run(2, _notified, str(tmp_path), -1))
    assert sorted(results[0][0]) == [6, 7]
    for step in (6, 7):
        assert sum(r[0][step] for r in results) == pytest.approx(plain[step], rel=1e-5)


def test_notice_to_one_rank_is_agreed_by_all(tmp_path):
    assert run(4, _notified, str(tmp_path), 3, 2) == [("exit", 75)] * 4
    assert meta(tmp_path)["step"] == 4


class Full(Fake):
    """A disk that has room again after some tries, and which steps were tried."""

    def __init__(self, directory, fails, error):
        super().__init__(directory)
        self.fails, self.error, self.tried = fails, error, []

    def save(self, state, meta):
        self.tried.append(meta["step"])
        if len(self.tried) <= self.fails:
            raise self.error("no space")
        return super().save(state, meta)


def test_training_outlives_a_save_that_fails_and_tries_again(plain, tmp_path, caplog):
    store = Full(str(tmp_path), 2, CheckpointError)
    losses, _, _ = train(oxgang.init(checkpoints=store, checkpoint_steps=2))
    assert [losses[i] for i in range(8)] == pytest.approx(plain, rel=1e-5)
    assert (store.tried, meta(tmp_path)["step"]) == ([2, 4, 6, 8], 8)
    assert "no checkpoint of step 2, training goes on: no space" in caplog.text


@pytest.mark.parametrize(
    "error, each, tried",
    [
        (CheckpointError, None, [3, 6, 8]),
        (CheckpointError, lambda job: job.position.step == 4 and signal.raise_signal(signal.SIGTERM), [3, 5]),
        (Fenced, None, [3]),
    ],
    ids=["at the end", "on notice", "of an old generation"],
)
def test_a_save_that_must_not_fail_fails_loudly(tmp_path, error, each, tried):
    store = Full(str(tmp_path), 10, error)
    job = oxgang.init(checkpoints=store, checkpoint_steps=3)
    with pytest.raises(error, match="no space"):
        train(job, each=each)
    job.close()
    assert store.tried == tried


def test_check_in_evaluation(tmp_path):
    """A notice in evaluation: all ranks leave there, after a checkpoint."""
    assert run(2, _check, str(tmp_path)) == [("exit", 75)] * 2
    assert (meta(tmp_path)["step"], meta(tmp_path)["sampler"]["sample"]) == (1, 13)


def _check(rank, directory):
    def each(job):
        if rank == 1:
            signal.raise_signal(signal.SIGTERM)
        job.check()
        raise AssertionError("went on")

    return train(oxgang.init(checkpoints=Fake(directory, rank)), each=each)


def test_boundaries_that_do_not_match_are_named():
    """By the rank in check; the other loses its partner, in the exchange of gradients."""
    (kind, text), other = run(2, _mismatch)
    assert kind == other[0] == "error" and "rank 0 in check, rank 1 in step" in text


def _mismatch(rank):
    return train(oxgang.init(), each=lambda job: job.check() if rank == 0 else None)


def env(s, **more):
    return {"OXGANG_URL": s.url, "OXGANG_TOKEN": "secret", "OXGANG_GENERATION": "3", "OXGANG_JOB": "j17", **more}


def _scheduled(rank, directory, epochs, options):
    """Trains with passes of 2 ms, so that there is time to report."""
    job = oxgang.init(checkpoints=Fake(directory, rank) if directory else None)
    return train(job, epochs=epochs, each=lambda job: time.sleep(0.002), **options)


def test_reports(scheduler, tmp_path):
    s = scheduler()
    began = time.monotonic()
    values(run(2, _scheduled, str(tmp_path), 30, {}, env=env(s)))
    wall = time.monotonic() - began
    (hello,) = s.of("/v1/hello")
    assert hello["batch"] == {"init": 13, "max": 13, "local_min": 1, "local_max": 13, "adaptive": False}
    assert (hello["world_size"], hello["epochs"], hello["samples"], hello["restored"]) == (2, 30, 1500, None)
    reports = s.of("/v1/report")
    assert len(reports) >= 2 and [r["sequence"] for r in reports] == list(range(1, len(reports) + 1))
    for r in reports:
        assert r["batch"] == {"local": 7, "accumulation": 0} and not r["profile"]
        assert 0 < r["sync_time"] < r["step_time"] < wall or (r is reports[-1] and r["step_time"] == 0)
    assert all(a["progress"] < b["progress"] for a, b in zip(reports, reports[1:]))
    assert reports[-1]["grad_var"] > 0
    last = s.of("/v1/checkpoint")[-1]
    assert (last["step"], last["progress"], last["epoch"]) == (120, 1500, 30)


@pytest.mark.parametrize("change, want", [(False, 6), (True, 6 + 1 + 2 * 6)])
def test_a_step_that_is_not_timed_has_no_marks(plain, monkeypatch, change, want):
    """The first three steps are timed here, two after another cut of the batch, into three passes, and
    others when a GAP of many has passed."""

    def each(job):
        if change and job.position.step == 3 and job._loader.plan.wanted == Batch():
            job._obey([Row(STEP, 0, 0, 0, 5, 2, 0)])

    marks = []
    monkeypatch.setattr(timing, "GAP", 1e9)
    monkeypatch.setattr(timing, "ENOUGH", 1)
    monkeypatch.setattr(timing, "LONGEST", 1e9)
    monkeypatch.setattr(timing.Marks, "mark", lambda self: marks.append(time.perf_counter()) or marks[-1])
    losses, _, _ = train(oxgang.init(), each=each)
    assert [losses[i] for i in range(8)] == pytest.approx(plain, rel=1e-5)
    assert len(marks) == want


@pytest.mark.parametrize("world", [1, 2])
def test_steps_that_are_not_timed_count(scheduler, tmp_path, monkeypatch, world):
    """After the first two, hardly a step is timed: reports and the last checkpoint have all that were
    made, with the time of those that were timed."""
    monkeypatch.setattr(timing, "GAP", 0.1)
    monkeypatch.setattr(timing, "ENOUGH", 2)
    s = scheduler()
    values(run(world, _scheduled, str(tmp_path), 80, {}, env=env(s)))
    reports = s.of("/v1/report")
    assert len(reports) >= 2
    last = s.of("/v1/checkpoint")[-1]
    assert (last["step"], last["progress"]) == (320, 4000)
    assert reports[-1]["step"] == 320
    for r in reports:  # of an epoch's four batches of 13 samples the last has 11
        assert r["progress"] == 50 * (r["step"] // 4) + 13 * (r["step"] % 4)
    assert all(0 < r["step_time"] < 1 for r in reports[:-1]) and 0 <= reports[-1]["step_time"] < 1


def test_profile_ladder(plain, scheduler):
    """Each local size that cuts the fixed batch in another way is measured, and then the
    scheduler's choice obeyed, without a change of losses."""
    chosen = {"local": 5, "accumulation": 2}
    s = scheduler(
        welcome={"batch": chosen, "report_seconds": 0.1, "profile": [64, 2, 4, 100]},
        answer={"batch": chosen, "notice": None},
    )
    ((losses, _, _),) = values(run(1, _scheduled, None, 20, {}, env=env(s)))
    for step, loss in enumerate(plain):
        assert losses[step] == pytest.approx(loss, rel=1e-5)
    reports = s.of("/v1/report")
    rungs = [{"local": 2, "accumulation": 6}, {"local": 4, "accumulation": 3}, {"local": 13, "accumulation": 0}]
    assert [r["batch"] for r in reports if r["profile"]] == rungs
    assert [r["batch"] for r in reports if not r["profile"]][-1] == chosen


def test_profile_ladder_of_slow_steps(monkeypatch):
    """Where a step takes longer than from report to report, one of each rung is enough: the ladder
    does not stay on its first rung, which has the most passes."""
    clock, said = [0.0], []
    monkeypatch.setattr(reporting.time, "monotonic", lambda: clock[0])
    agent = types.SimpleNamespace(report=said.append, welcome=lambda _: None, take_answer=lambda: None)
    plan = Plan(Limits(128, 128, 1, 128, adaptive=False))
    r = reporting.Reporter(agent, plan, Position(), Noise(128))
    r.greet(Welcome(Batch(), 1.0, (8, 32, 128)))
    for _ in range(9):
        clock[0] += 2.0
        r.observe(Times(step=0.1), r.want)
    assert [m.batch.local for m in said if m.profile] == [8, 32, 128]


def quiet():
    """A reporter of a job of 128 samples a step, its position, and what it says."""
    said, position = [], Position()
    agent = types.SimpleNamespace(report=said.append, welcome=lambda _: None, take_answer=lambda: None)
    return reporting.Reporter(agent, Plan(Limits(128, 128, 1, 128, adaptive=False)), position, Noise(128)), position, said


def test_the_last_report_has_steps_that_were_not_timed():
    r, position, said = quiet()
    r.close()
    for position.step in range(1, 6):
        r.observe(Times(step=0.1), Batch(128, 0))
    r.report()
    r.close()
    position.step, position.progress = 9, 9 * 128.0
    r.close()
    assert [(m.step, m.step_time) for m in said] == [(5, pytest.approx(0.1)), (9, 0)]
    assert said[-1].progress == 1152 and said[-1].batch == Batch(128, 0)


def test_adaptive_batches_follow_the_scheduler_between_limits(scheduler):
    s = scheduler(answer={"batch": {"local": 500, "accumulation": 0}, "notice": None})
    options = dict(batch=5, loader={"adaptive": True, "max_batch_size": 20}, local=8, rule="adascale")
    results = values(run(2, _scheduled, None, 20, options, env=env(s)))
    sizes = [sum(len(r[1][step]) for r in results) for step in results[0][1]]
    assert sizes[0] == 5 and max(sizes) == 20
    assert {"local": 5, "accumulation": 1} in [r["batch"] for r in s.of("/v1/report")]
    progress = s.of("/v1/report")[-1]["progress"]
    assert 1000 - 40 <= progress <= sum(sizes)
    assert results[0][2] == results[1][2]


def test_notice_in_an_answer(scheduler, tmp_path):
    notice = {"deadline": time.time() + 60, "reason": "resize"}
    s = scheduler(answer={"batch": {"local": 0, "accumulation": 0}, "notice": notice})
    assert run(2, _scheduled, str(tmp_path), 10000, {}, env=env(s)) == [("exit", 75)] * 2
    assert s.of("/v1/checkpoint")[-1]["step"] == meta(tmp_path)["step"]


def test_notice_file(scheduler, tmp_path):
    """The file is written once the job has reported: it is in mid-training then."""
    path = tmp_path / "notice.json"

    def reply(p, body):
        if p == "/v1/report":
            path.write_text('{"deadline": 4e9, "reason": "resize"}')

    s = scheduler(reply=reply)
    more = env(s, OXGANG_NOTICE=str(path))
    assert run(2, _scheduled, str(tmp_path), 10000, {}, env=more) == [("exit", 75)] * 2
    assert (tmp_path / "newest").exists()


def test_another_generation_stops_training_without_writing(scheduler, tmp_path):
    s = scheduler(reply=lambda path, body: (409, {"error": "want 4"}, {}) if path == "/v1/report" else None)
    results = run(2, _scheduled, str(tmp_path), 10000, {}, env=env(s))
    assert all(kind == "exit" and "another generation owns job j17" in code for kind, code in results)
    assert not (tmp_path / "newest").exists() and s.of("/v1/checkpoint") == []


def test_fenced_after_the_last_step_writes_nothing(scheduler, tmp_path):
    assert "another generation" in run(1, _late, str(tmp_path), env=env(scheduler()))[0][1]
    assert not (tmp_path / "newest").exists()


def _late(rank, directory):
    def each(job):
        job._agent.fenced = job.position.step == 8

    return train(oxgang.init(checkpoints=Fake(directory)), each=each)


def test_trains_on_while_the_scheduler_is_away(plain, tmp_path, monkeypatch):
    monkeypatch.setattr("oxgang.job.WELCOME", 0.01)
    monkeypatch.setattr("oxgang.job.FLUSH", 0.5)
    alone = {"OXGANG_URL": "http://127.0.0.1:9", "OXGANG_TOKEN": "secret"}
    ((losses, _, _),) = values(run(1, _scheduled, str(tmp_path), 2, {}, env=alone))
    assert [losses[i] for i in range(8)] == pytest.approx(plain, rel=1e-5)


def test_a_users_schedule_and_learning_rates():
    job = oxgang.init()
    batches = job.loader(data(), 10, schedule=[(10, 2), (25, 1)])
    m = model()
    o = torch.optim.SGD(m.parameters(), lr=1.0)
    m, o = job.train(m, o, scheduler=torch.optim.lr_scheduler.StepLR(o, 1, 0.5))
    applied, sizes = [], []
    o.register_step_pre_hook(lambda o, *_: applied.append(o.param_groups[0]["lr"]))
    for _ in job.epochs(3):
        for x, y, _ in batches:
            with job.step():
                job.backward(torch.nn.functional.mse_loss(m(x), y))
            sizes.append(len(x))
    assert sizes == [10] * 10 + [25] * 2
    assert applied == pytest.approx([1.0] * 5 + [0.5] * 5 + [0.25 * 2.5**0.5] * 2)
    assert o.param_groups[0]["lr"] == 0.125, "left as the scheduler has it"


def test_workers_read_the_same_order_and_follow_the_cores():
    plain = values(run(1, _workers))
    several = values(run(1, _workers, env={"OXGANG_CPUS": "3.5"}))
    assert several[0][0] == plain[0][0] and (several[0][1], plain[0][1]) == (2, 0)


def _workers(rank):
    job = oxgang.init()
    result = train(job, epochs=1)
    return result[1], job._loader._data.num_workers


def test_cache_follows_the_memory(monkeypatch):
    monkeypatch.setenv("OXGANG_MEMORY", str(2**40))
    told = []
    job = oxgang.init()
    job.loader(data(), 13, cache=told.append)
    job.close()
    assert 2**39 < told[0] < 2**40 * 0.9


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda job: job.train(None, None), "after job.loader"),
        (lambda job: next(job.epochs(1)), "after job.train"),
        (lambda job: job.backward(None), "job.step"),
        (lambda job: job.loader(iter([]), 4), "has no length"),
        (lambda job: job.loader([], 4), "dataset of 0 samples"),
        (lambda job: (job.loader(data(), 4), job.loader(data(), 4)), "twice"),
        (lambda job: train(job, rule="cubic"), "cubic"),
    ],
)
def test_wrong_calls_are_named(call, says):
    job = oxgang.init()
    with pytest.raises((ValueError, RuntimeError), match=says):
        call(job)
    job.close()


def test_a_micro_batch_left_out_is_named():
    job = oxgang.init()
    batches = job.loader(data(), 13)
    m = model()
    job.train(m, torch.optim.SGD(m.parameters(), lr=0.1))
    with pytest.raises(RuntimeError, match="left out"):
        for _ in job.epochs(1):
            for _ in batches:
                pass
    job.close()

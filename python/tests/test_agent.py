import json
import math
import socket
import threading

import pytest

from oxgang import agent as a
from oxgang import protocol as p
from oxgang.environment import Environment

HELLO = p.Hello("oxgang-py 0.1.0", 3, 1, p.Limits(8, 8, 1, 8, False), (), 1, 80.0, None, 0.0)
REPORT = p.Report(0, 0, 12, 96.0, 0, 1.0, p.Batch(8, 0), 0.1, 0.0, 0.0, 0.5, 1.5, False)
CHECKPOINT = p.Checkpoint(0, 12, 96.0, 0, 10, 0.1, "step-12", "sha256:00")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(a, "BACKOFF", (0.01, 0.02))


def start(url="", path="", token="secret"):
    return a.Agent(a.poster(Environment(url=url, socket=path, token=token)), generation=3)


def test_messages_arrive_in_order_with_sequence_numbers(scheduler):
    s = scheduler()
    agent = start(s.url)
    agent.hello(HELLO)
    assert agent.welcome(5).report_seconds == 0.1
    for _ in range(3):
        agent.report(REPORT)
    agent.checkpoint(CHECKPOINT)
    assert agent.close(5)
    assert [path for path, _ in s.got] == ["/v1/hello"] + 3 * ["/v1/report"] + ["/v1/checkpoint"]
    assert [b["sequence"] for b in s.of("/v1/report")] == [1, 2, 3]
    assert {b["generation"] for _, b in s.got} == {3}
    assert agent.take_answer() == p.Answer(p.Batch(), None) and agent.take_answer() is None


def test_away_then_back(scheduler):
    """What was reported while nobody listened arrives once, in order, when somebody does."""
    tried, back = threading.Event(), threading.Event()
    posts = []

    def post(path, body):
        if back.is_set():
            return real(path, body)
        posts.append(path)
        if len(posts) == 5:
            tried.set()
        raise ConnectionRefusedError

    s = scheduler()
    real = a.poster(Environment(url=s.url, token="secret"))
    agent = a.Agent(post, 3)
    agent.hello(HELLO)
    for _ in range(20):
        agent.report(REPORT)
    assert tried.wait(5)
    assert agent.welcome(0) is None
    back.set()
    assert agent.welcome(5) is not None
    assert agent.close(5)
    assert set(posts) == {"/v1/hello"}, "nothing overtakes"
    assert [b["sequence"] for b in s.of("/v1/report")] == list(range(1, 21))


def test_kept_messages_are_bounded_and_the_oldest_reports_go_first():
    block = threading.Event()

    def post(path, body):
        block.wait()
        raise OSError

    agent = a.Agent(post, 3)
    agent.hello(HELLO)
    agent.checkpoint(CHECKPOINT)
    for _ in range(a.KEPT + 50):
        agent.report(REPORT)
    assert agent.waiting() == a.KEPT
    kept = [m.path for m in agent._queue]
    assert kept[:2] == ["/v1/hello", "/v1/checkpoint"]
    assert json.loads(agent._queue[2].body)["sequence"] == 53
    for _ in range(a.KEPT):
        agent.checkpoint(CHECKPOINT)
    assert [m.path for m in agent._queue] == ["/v1/hello"] + (a.KEPT - 1) * ["/v1/checkpoint"]
    block.set()
    assert not agent.close(0.05)


def test_another_generation_fences(scheduler):
    s = scheduler(reply=lambda path, body: (409, {"error": "generation 3, want 4"}, {}) if path == "/v1/report" else None)
    agent = start(s.url)
    agent.hello(HELLO)
    agent.report(REPORT)
    agent.checkpoint(CHECKPOINT)
    assert agent.close(5)
    assert agent.fenced
    agent.report(REPORT)
    assert agent.waiting() == 0 and s.of("/v1/checkpoint") == []


def test_busy_scheduler_is_asked_again(scheduler):
    times = []

    def reply(path, body):
        times.append(path)
        return {1: (429, {"error": "slow"}, {"Retry-After": "0"}), 2: (503, {}, {}), 3: (401, {}, {})}.get(len(times))

    s = scheduler(reply=reply)
    agent = start(s.url)
    agent.report(REPORT)
    assert s.wait_for(lambda got: len(got) == 1)
    assert agent.close(5) and len(times) == 4


def test_retry_after_is_obeyed_and_bounded():
    assert [a._seconds(t) for t in ("7", "100000", "-1", "soon", "\xb2", None)] == [7.0, 60.0, 0.0, 0.0, 0.0, 0.0]


def test_a_refused_report_is_dropped_and_said(scheduler, caplog):
    s = scheduler(reply=lambda path, body: (400, {"error": "step 12, want more"}, {}) if body.get("sequence") == 1 else None)
    agent = start(s.url)
    agent.report(REPORT)
    agent.report(REPORT)
    assert agent.close(5)
    assert [b["sequence"] for b in s.of("/v1/report")] == [2]
    assert agent.refused == 1 and "step 12, want more" in caplog.text


def test_hostile_numbers_are_not_sent(scheduler, caplog):
    s = scheduler()
    agent = start(s.url)
    for value in (math.nan, math.inf, -1.0):
        agent.report(_with(REPORT, step_time=value))
    agent.report(REPORT)
    assert agent.close(5)
    assert len(s.of("/v1/report")) == 1 and agent.refused == 3
    assert "step_time nan" in caplog.text


def test_senseless_answers_change_nothing(scheduler):
    s = scheduler(welcome={"batch": {"local": -5, "accumulation": 0}, "report_seconds": 1, "profile": []}, answer=[1])
    agent = start(s.url)
    agent.hello(HELLO)
    agent.report(REPORT)
    assert agent.close(5)
    assert agent.welcome(0) is None and agent.take_answer() is None and agent.refused == 2


def test_unix_socket(tmp_path):
    path = str(tmp_path / "agent.sock")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        got = []

        def serve():
            c, _ = listener.accept()
            with c:
                got.append(c.recv(65536))
                while not got[0].endswith(b"}"):
                    got[0] += c.recv(65536)
                body = b'{"batch":{"local":4,"accumulation":1},"notice":{"deadline":5.5,"reason":"out"}}'
                c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

        t = threading.Thread(target=serve)
        t.start()
        agent = start(path=path, url="http://127.0.0.1:1")
        agent.report(REPORT)
        assert agent.close(5)
        t.join()
    assert got[0].startswith(b"POST /v1/report") and b"Authorization: Bearer secret" in got[0]
    assert agent.take_answer() == p.Answer(p.Batch(4, 1), p.Notice(5.5, "out"))


def test_reporting_never_blocks():
    """The thread is stuck in a post; reporting goes on."""
    inside, leave = threading.Event(), threading.Event()

    def post(path, body):
        inside.set()
        leave.wait()
        raise OSError

    agent = a.Agent(post, 3)
    agent.report(REPORT)
    assert inside.wait(5)
    agent.report(REPORT)
    agent.checkpoint(CHECKPOINT)
    assert agent.waiting() == 3 and agent.take_answer() is None
    leave.set()
    assert not agent.close(0)


def _with(message, **kw):
    import dataclasses

    return dataclasses.replace(message, **kw)

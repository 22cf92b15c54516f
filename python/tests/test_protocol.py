import json
import math
import pathlib

import pytest

from oxgang import protocol as p

GOLDEN = pathlib.Path(__file__).parents[2] / "live" / "agentapi" / "testdata" / "agent"
KINDS = {"hello": p.Hello, "welcome": p.Welcome, "report": p.Report, "answer": p.Answer,
         "checkpoint": p.Checkpoint, "error": p.Failure}


@pytest.mark.parametrize("name", KINDS)
def test_golden_both_ways(name):
    data = (GOLDEN / f"{name}.json").read_bytes()
    message = p.decode(KINDS[name], data)
    assert json.loads(p.encode(message)) == json.loads(data)
    assert p.decode(KINDS[name], p.encode(message)) == message


def test_hello_is_what_the_golden_file_says():
    want = json.loads((GOLDEN / "hello.json").read_text())
    restored = p.Restored(1000, 128000.0, want["restored"]["checksum"])
    got = p.Hello("oxgang-py 0.1.0", 3, 2, p.Limits(128, 1024, 1, 64, False), (p.Regime(128, 10),), 10, 1e6, restored, 2.1)
    assert json.loads(p.encode(got)) == want


REPORT = p.Report(3, 17, 1200, 151000.5, 2, 30.0, p.Batch(32, 1), 0.21, 0.03, 0.01, 0.5, 1.5, False)


@pytest.mark.parametrize("field", ["progress", "interval", "step_time", "sync_time", "wait_time", "grad_sqr", "grad_var"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -1e-9, -1])
def test_hostile_numbers_never_leave(field, value):
    with pytest.raises(ValueError, match=field):
        p.encode(_with(REPORT, field, value))


def test_hostile_counts_never_leave():
    for field, value in [("step", -1), ("epoch", 2**60), ("batch", p.Batch(-1, 0))]:
        with pytest.raises(ValueError, match=field):
            p.encode(_with(REPORT, field, value))


def _with(message, field, value):
    import dataclasses

    return dataclasses.replace(message, **{field: value})


@pytest.mark.parametrize("data, says", [
    (b"", "answer"),
    (b"[]", "want an object"),
    (b'{"batch":{"local":32}}', "notice is missing|batch.accumulation is missing"),
    (b'{"batch":{"local":32,"accumulation":1.5},"notice":null}', "batch.accumulation 1.5, want a whole number"),
    (b'{"batch":{"local":NaN,"accumulation":0},"notice":null}', "batch.local"),
    (b'{"batch":{"local":true,"accumulation":0},"notice":null}', "want a number"),
    (b'{"batch":{"local":1e300,"accumulation":0},"notice":null}', "batch.local"),
    (b'{"batch":{"local":1,"accumulation":0},"notice":{"deadline":"soon","reason":""}}', "notice.deadline"),
    (b'{"batch":{"local":1,"accumulation":0},"notice":{"deadline":1,"reason":7}}', "notice.reason 7, want text"),
    (b"[" * 100000, "answer"),
])
def test_bad_answers_are_named(data, says):
    with pytest.raises(ValueError, match=says):
        p.decode(p.Answer, data)


def test_more_than_we_know_is_left_out():
    got = p.decode(p.Answer, b'{"batch":{"local":1,"accumulation":0,"new":1},"notice":null,"more":{}}')
    assert got == p.Answer(p.Batch(1, 0), None)

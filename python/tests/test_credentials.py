import json
import os
import ssl
import subprocess

import pytest

from oxgang import agent as a
from oxgang import environment, trainer
from oxgang.credentials import TOKEN_BYTES, Token
from oxgang.environment import Environment


def put(path, text):
    """Puts a file in the place of another, as a kubelet does."""
    new = path.with_suffix(".new")
    new.write_bytes(text)
    os.replace(new, path)


def test_token_is_read_again_when_it_changes(tmp_path, monkeypatch):
    path = tmp_path / "token"
    put(path, b"first\n")
    token = Token(Environment(token_file=str(path)))
    assert token.text() == "first"
    with monkeypatch.context() as m:
        m.setattr("builtins.open", None)  # not read again
        assert token.text() == "first"
    put(path, b"other")
    assert token.text() == "other"


@pytest.mark.parametrize("text", [b"", b" \n", b"x" * (TOKEN_BYTES + 1), b"a\nInjected: b", "ä".encode()])
def test_token_that_is_none(tmp_path, text):
    path = tmp_path / "token"
    put(path, text)
    with pytest.raises(OSError, match="want a token"):
        Token(Environment(token_file=str(path))).text()


def test_environment_of_files():
    e = environment.read({"OXGANG_URL": "https://agents:8443", "OXGANG_TOKEN_FILE": "/t", "OXGANG_CA_FILE": "/c"})
    assert e.scheduled and not e.trainer and (e.token_file, e.ca_file) == ("/t", "/c")
    with pytest.raises(ValueError, match="OXGANG_URL 'agents:8443', want http"):
        environment.read({"OXGANG_URL": "agents:8443"})


THEIRS = {f"KUBEFLOW_TRAINER_SERVER_{n}": v for n, v in (("URL", "https://t/x"), ("TOKEN", "/t"), ("CA_CERT", "/c"))}


def test_trainer_is_told_where_there_is_no_scheduler():
    assert environment.read(THEIRS).trainer
    assert not environment.read({**THEIRS, "OXGANG_URL": "https://a", "OXGANG_TOKEN": "x"}).trainer
    for missing in THEIRS:
        assert not environment.read({k: v for k, v in THEIRS.items() if k != missing}).scheduled


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    d = tmp_path_factory.mktemp("certificates")
    for name in ("own", "other"):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
             "-keyout", d / f"{name}.key", "-out", d / f"{name}.crt"], check=True, capture_output=True)
    return d


@pytest.fixture
def secure(scheduler, certificates):
    s = scheduler()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "own.crt", certificates / "own.key")
    s.server.socket = context.wrap_socket(s.server.socket, server_side=True)
    return f"https://localhost:{s.server.server_port}", s


def test_server_is_checked_by_the_file_of_the_moment(secure, certificates, tmp_path):
    url, s = secure
    ca, token = tmp_path / "ca.crt", tmp_path / "token"
    put(ca, (certificates / "other.crt").read_bytes())
    put(token, b"old")
    post = a.poster(Environment(url=url, token_file=str(token), ca_file=str(ca)))
    with pytest.raises(ssl.SSLCertVerificationError):
        post("/v1/checkpoint", b"{}")
    put(ca, (certificates / "other.crt").read_bytes() + (certificates / "own.crt").read_bytes())
    assert post("/v1/checkpoint", b"{}")[0] == 401
    put(token, b"secret")
    assert post("/v1/checkpoint", b"{}")[0] == 200
    assert len(s.got) == 1


def test_url_in_a_file_may_come_later_and_change(scheduler, tmp_path):
    s, path = scheduler(), tmp_path / "url"
    env = environment.read({"OXGANG_URL_FILE": str(path), "OXGANG_TOKEN": "secret"})
    assert env.scheduled and not environment.read({"OXGANG_URL_FILE": str(path)}).scheduled
    post = a.poster(env)
    for text in (None, b"", b"agents:8443", b"http://localhost:x", b"http://[::1"):
        if text is not None:
            put(path, text)
        with pytest.raises(OSError):  # which the agent takes for a scheduler that is away
            post("/v1/checkpoint", b"{}")
    put(path, s.url.encode() + b"\n")
    assert post("/v1/checkpoint", b"{}")[0] == 200


def test_trainer_gets_a_status(monkeypatch):
    sent, code = [], 200

    def send(path, body):
        sent.append((path, json.loads(body)))
        return code, 0.0, b"{}"

    monkeypatch.setattr(a, "poster", lambda env: send)
    post = trainer.poster(Environment(url="https://t/ns/job/status", trainer=True))
    report = b'{"step":5,"epoch":1,"progress":250.0,"step_time":0.1}'
    assert post("/v1/report", report)[0] == 200 and "progressPercentage" not in sent[0][1]["trainerStatus"]
    assert a.decode(a.Welcome, post("/v1/hello", b'{"samples":1000.0}')[2]).report_seconds == 30
    status, _, answer = post("/v1/report", report)
    assert status == 200 and a.decode(a.Answer, answer).notice is None
    path, body = sent[1]
    assert path == "/ns/job/status" and body["trainerStatus"]["progressPercentage"] == 25
    assert {"name": "step", "value": "5"} in body["trainerStatus"]["metrics"]
    post("/v1/report", report.replace(b"250.0", b"5000.0").replace(b"0.1", b"0.0"))
    assert sent[2][1]["trainerStatus"]["progressPercentage"] == 100
    assert [{m["name"] for m in sent[i][1]["trainerStatus"]["metrics"]} for i in (1, 2)] == [{"step", "epoch", "progress", "step_time"}, {"step", "epoch", "progress"}]
    assert post("/v1/checkpoint", b"{}") == (200, 0.0, b"{}") and len(sent) == 3
    code = 409  # a conflict there is no other generation
    assert post("/v1/report", report)[0] == 503

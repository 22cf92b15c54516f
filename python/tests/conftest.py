"""A scheduler to test against, checkpoints in memory's place, and jobs of several ranks."""

from __future__ import annotations

import json
import multiprocessing
import os
import socket
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")

WELCOME = {"batch": {"local": 0, "accumulation": 0}, "report_seconds": 0.1, "profile": []}
ANSWER = {"batch": {"local": 0, "accumulation": 0}, "notice": None}


class Scheduler:
    """Takes what is posted on loopback. `reply(path, body)` may say otherwise than 200."""

    def __init__(self, reply=None, welcome=WELCOME, answer=ANSWER):
        self.got, self.changed = [], threading.Condition()
        self.reply, self.welcome, self.answer = reply, welcome, answer
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, value, headers = outer.respond(self.path, body, self.headers["Authorization"])
                data = json.dumps(value).encode()
                self.send_response(status)
                for k, v in headers.items():
                    self.send_header(k, v)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def respond(self, path, body, auth):
        reply = self.reply(path, body) if self.reply else None
        with self.changed:
            if auth != "Bearer secret":
                return 401, {"error": "token"}, {}
            if reply is not None:
                return reply
            self.got.append((path, body))
            self.changed.notify_all()
        value = {"/v1/hello": self.welcome, "/v1/report": self.answer, "/v1/checkpoint": {}}[path]
        return 200, value, {}

    def of(self, path):
        with self.changed:
            return [b for p, b in self.got if p == path]

    def wait_for(self, condition, timeout=10):
        with self.changed:
            return self.changed.wait_for(lambda: condition(self.got), timeout)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def scheduler():
    made = []

    def make(**kw):
        made.append(Scheduler(**kw))
        return made[-1]

    yield make
    for s in made:
        s.close()


class Saved:
    def __init__(self, **kw):
        self.__dict__.update(kw)


class Fake:
    """Checkpoints as oxgang.checkpoint has them, in one file that rank 0 writes."""

    def __init__(self, directory, rank=0):
        self.path, self.rank = os.path.join(directory, "newest"), rank

    def save(self, state, meta):
        import torch
        import torch.distributed as dist

        data = {k: v.state_dict() for k, v in state.items()}
        if self.rank == 0:
            torch.save((data, meta), self.path + ".new")
            os.replace(self.path + ".new", self.path)
        if dist.is_initialized():
            dist.barrier()
        return Saved(path="newest", bytes=os.path.getsize(self.path), seconds=0.001, checksum="sha256:00")

    def load(self, state):
        import torch

        if not os.path.exists(self.path):
            return None
        data, meta = torch.load(self.path, weights_only=False)
        for k, v in state.items():
            v.load_state_dict(data[k])
        return Saved(meta=meta, checksum="sha256:00", seconds=0.001)


def _child(pipe, work, rank, env, args):
    os.environ.update(env, RANK=str(rank), LOCAL_RANK=str(rank))
    import torch

    torch.set_num_threads(1)
    try:
        result = ("result", work(rank, *args))
    except SystemExit as e:
        result = ("exit", e.code)
    except BaseException:
        result = ("error", traceback.format_exc())
    pipe.send(result)
    pipe.close()
    os._exit(0)


def run(world, work, *args, env=None):
    """Runs work(rank, *args) in world processes; returns (kind, value) by rank, where kind
    is result, exit or error."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    env = {"WORLD_SIZE": str(world), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), **(env or {})}
    context = multiprocessing.get_context("fork")
    children = []
    for rank in range(world):
        here, there = context.Pipe(False)
        p = context.Process(target=_child, args=(there, work, rank, env, args))
        p.start()
        there.close()
        children.append((p, here))
    results = []
    for p, here in children:
        results.append(here.recv() if here.poll(60) else ("error", "no result in 60 s"))
    for p, _ in children:
        p.join(1)
        if p.is_alive():
            p.kill()
    return results


def values(results):
    """The results; fails with the first error."""
    for kind, value in results:
        assert kind == "result", value
    return [v for _, v in results]

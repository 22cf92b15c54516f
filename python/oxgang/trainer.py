"""Kubeflow Trainer as the scheduler: it learns of the job's progress, and makes no decisions.

Its only endpoint takes the status of a TrainJob. So hello is answered here, a report becomes a
status, and saved checkpoints are not reported.
"""

from __future__ import annotations

import json
import math
import urllib.parse
from datetime import datetime, timezone
from typing import Any

from . import agent
from .environment import Environment

SECONDS = 30.0  # seconds between statuses
WELCOME = {"batch": {"local": 0, "accumulation": 0}, "report_seconds": SECONDS, "profile": []}
ANSWER = {"batch": {"local": 0, "accumulation": 0}, "notice": None}


def poster(env: Environment) -> agent.Post:
    """Returns a function that posts to Kubeflow Trainer."""
    send = agent.poster(env)
    endpoint = urllib.parse.urlsplit(env.url).path or "/"
    samples = 0.0  # to completion; 0: unknown

    def post(path: str, body: bytes) -> tuple[int, float, bytes]:
        nonlocal samples
        message = json.loads(body)
        if path == "/v1/hello":
            samples = message["samples"]
            return 200, 0.0, json.dumps(WELCOME).encode()
        if path != "/v1/report":
            return 200, 0.0, b"{}"
        code, pause, answer = send(endpoint, json.dumps({"trainerStatus": status(message, samples)}).encode())
        if code // 100 == 2:
            return 200, pause, json.dumps(ANSWER).encode()
        return 503 if code == 409 else code, pause, answer  # its 409 does not mean a newer generation

    return post


def status(report: dict[str, Any], samples: float) -> dict[str, Any]:
    """Returns a report as a status, of a job with that many samples."""
    names = ["step", "epoch", "progress"] + ["step_time"] * (report["step_time"] > 0)  # 0: not measured
    s: dict[str, Any] = {
        "lastUpdatedTime": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "metrics": [{"name": n, "value": repr(report[n])} for n in names],
    }
    if samples > 0:
        s["progressPercentage"] = min(100, math.floor(100 * report["progress"] / samples))
    return s

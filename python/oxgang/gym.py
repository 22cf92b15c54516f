"""A Gymnasium environment over the simulator. It needs `pip install oxgang[gym]` and the program `oxgang`.

    from oxgang.gym import ClusterEnv

    env = ClusterEnv({"cluster": "t4:4x4", "generate.jobs": 20, "round": "5m"})
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

A step is a round. The observation has a row for each of the first `jobs` active jobs, by submission, and
numbers of the cluster; all are from 0 to 1. The action is a priority for each of these jobs, and with
`actions="gpus"` how many GPUs each is to have. Jobs behind them are served after them, as they were
submitted. The reward is minus the hours that jobs spent in the system since the last step: its sum over an
episode is minus the sum of all completion times.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from .simulator import Question, Simulator

FEATURES = ("there", "gpus", "held", "age", "remaining", "service", "restarts", "fixed")
"""What is observed of a job: each grows with its quantity, from 0 to 1."""

HOUR = 3600.0

Observation = dict[str, NDArray[np.float32]]


def squash(x: float, half: float) -> float:
    """Map 0 to infinity onto 0 to 1: 0 for 0, and 1/2 for half."""
    x = max(0.0, x)
    return x / (x + half)


class ClusterEnv(gymnasium.Env[Observation, NDArray[Any]]):
    """One simulation per episode. `settings` are those of `oxgang config`, except the seed,
    which reset takes.

    `jobs` is the number of observed jobs. `actions` is "order" (a priority in [-1, 1] for each,
    highest first) or "gpus" (a number of GPUs for each, up to `most`, in order of submission).
    """

    metadata = {"render_modes": []}

    def __init__(
        self,
        settings: Mapping[str, object] | None = None,
        *,
        jobs: int = 16,
        actions: str = "order",
        most: int = 8,
        program: str | None = None,
    ) -> None:
        if actions not in ("order", "gpus"):
            raise ValueError(f"actions {actions!r}, want 'order' or 'gpus'")
        self.settings, self.jobs, self.actions, self.program = dict(settings or {}), jobs, actions, program
        box = gymnasium.spaces.Box
        seen: Any = gymnasium.spaces.Dict(
            {"jobs": box(0.0, 1.0, (jobs, len(FEATURES)), np.float32), "cluster": box(0.0, 1.0, (2,), np.float32)}
        )
        self.observation_space = seen
        self.action_space: gymnasium.spaces.Space[Any]
        if actions == "order":
            self.action_space = box(-1.0, 1.0, (jobs,), np.float32)
        else:
            self.action_space = gymnasium.spaces.MultiDiscrete([most + 1] * jobs)
        self._simulation: Simulator | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        self.close()
        run = int(self.np_random.integers(1 << 31)) if seed is None else seed
        self._simulation = Simulator({**self.settings, "seed": run}, program=self.program)
        return self._observe(), self._info()

    def step(self, action: NDArray[Any]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        s = self._simulation
        if s is None or s.question is None:
            raise RuntimeError("the episode has ended: call reset")
        s.answer(self._answer(s.question, action))
        spent = s.question["job_s"] if s.ending is None else s.ending["job_s"]
        unfinished = s.ending is not None and bool(s.ending["unfinished"])
        return self._observe(), -float(spent) / HOUR, s.ending is not None and not unfinished, unfinished, self._info()

    def close(self) -> None:
        if self._simulation is not None:
            self._simulation.close()
            self._simulation = None

    def _answer(self, question: Question, action: NDArray[Any]) -> list[dict[str, Any]]:
        seen, rest = question["jobs"][: self.jobs], question["jobs"][self.jobs :]
        if self.actions == "order":
            first = np.argsort(-np.asarray(action, dtype=np.float64)[: len(seen)], kind="stable")
            answer = [{"id": seen[i]["id"]} for i in first]
        else:
            answer = [{"id": job["id"], "gpus": int(n)} for job, n in zip(seen, action, strict=False)]
        return answer + [{"id": job["id"]} for job in rest]

    def _observe(self) -> Observation:
        rows, cluster = np.zeros((self.jobs, len(FEATURES)), np.float32), np.zeros(2, np.float32)
        s = self._simulation
        if s is not None and s.question is not None:
            total = max(1, sum(t["total"] for t in s.question["gpus"]))
            for i, job in enumerate(s.question["jobs"][: self.jobs]):
                rows[i] = features(job, s.question["now_s"], total)
            held = sum(job["held_gpus"] for job in s.question["jobs"])
            cluster[:] = min(1.0, held / total), squash(len(s.question["jobs"]), self.jobs)
        return {"jobs": rows, "cluster": cluster}

    def _info(self) -> dict[str, Any]:
        s = self._simulation
        assert s is not None
        return {"question": s.question, "measures": None if s.ending is None else s.ending["measures"]}


def features(job: Mapping[str, Any], now: float, total: int) -> list[float]:
    """What is observed of a job, in the order of FEATURES."""
    return [
        1.0,
        min(1.0, job["gpus"] / total),
        min(1.0, job["held_gpus"] / total),
        squash(now - job["submitted_s"], HOUR),
        squash(job["remaining_s"], HOUR),
        squash(job["service_gpu_s"], HOUR),
        squash(job["restarts"], 4),
        float(job["fixed"]),
    ]

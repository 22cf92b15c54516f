"""Learn in which order jobs are served, by the cross-entropy method: seconds, on one core.

The policy is one weight for each feature of a job. It is trained on some seeds and judged on others, beside
priorities that are drawn at random and first come, first served.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from oxgang.gym import FEATURES, ClusterEnv

SETTINGS = {"cluster": "t4:4x4", "generate.jobs": 16, "generate.span": "1h", "round": "5m", "jobs.applications": "cifar10,deepspeech2"}

Order = Callable[[NDArray[np.float32]], NDArray[np.float64]]


def hours(env: ClusterEnv, order: Order, seed: int) -> float:
    """The mean hours to completion of an episode."""
    observation, info = env.reset(seed=seed)
    total, ended = 0.0, False
    while not ended:
        observation, reward, terminated, truncated, info = env.step(order(observation["jobs"]))
        total, ended = total - reward, terminated or truncated
    return total / float(info["measures"]["jobs"])


def weighted(weights: NDArray[np.float64]) -> Order:
    """Priorities that are sums of features."""
    return lambda jobs: np.tanh(jobs @ weights)


def learn(env: ClusterEnv, seeds: list[int], rounds: int, people: int, seed: int) -> NDArray[np.float64]:
    """The weights of the fewest mean hours: each round keeps the best quarter of what it draws."""
    draw = np.random.default_rng(seed)
    mean, spread = np.zeros(len(FEATURES)), np.ones(len(FEATURES))
    for _ in range(rounds):
        drawn = draw.normal(mean, spread, (people, len(FEATURES)))
        scores = [np.mean([hours(env, weighted(w), s) for s in seeds]) for w in drawn]
        best = drawn[np.argsort(scores)[: max(2, people // 4)]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.05
    return mean


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--people", type=int, default=12)
    parser.add_argument("--train", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--test", type=int, nargs="+", default=[101, 102, 103])
    parser.add_argument("--seed", type=int, default=0)
    a = parser.parse_args()
    env = ClusterEnv(SETTINGS)
    weights = learn(env, a.train, a.rounds, a.people, a.seed)
    draw = np.random.default_rng(a.seed)
    for name, order in {
        "random": lambda jobs: draw.uniform(-1, 1, len(jobs)),
        "first come": lambda jobs: np.zeros(len(jobs)),
        "learned": weighted(weights),
    }.items():
        print(json.dumps({"order": name, "mean_jct_h": round(float(np.mean([hours(env, order, s) for s in a.test])), 4)}))
    env.close()


if __name__ == "__main__":
    main()

"""The benchmarks of one GPU run, on the CPU, and print what they promise."""

import json
import subprocess
import sys
from pathlib import Path

GPU = str(Path(__file__).parents[1] / "benchmarks" / "gpu.py")


def lines(*args):
    """Runs a part, and returns what it prints."""
    done = subprocess.run([sys.executable, GPU, *args], capture_output=True, text=True, timeout=300, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_profile():
    found = lines("profile", "--most", "4", "--seconds", "0")
    assert [(x["batch"], x["passes"]) for x in found] == [(1, 1), (2, 1), (4, 1), (1, 2), (1, 4)]
    assert all(0 < x["least"] <= x["step"] <= x["most"] for x in found)


def test_events():
    """On a CPU both are readings of one clock, and the client's is within the other."""
    (found,) = lines("events", "--batch", "4", "--steps", "15")
    assert found["steps"] == 10 and 0 < found["said"] <= found["clock"] and found["off"] < 0

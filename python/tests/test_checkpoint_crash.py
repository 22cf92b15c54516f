"""A writer of checkpoints that is killed with SIGKILL at each of its steps."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from checkpoint_kit import ENVIRONMENT

CRASH = Path(__file__).parent / "checkpoint_crash.py"


def _crash(root: Path, *bug: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(CRASH), str(root), *bug],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=ENVIRONMENT,
    )


def test_the_old_or_the_new_checkpoint_is_there_whenever_the_writer_dies(tmp_path: Path) -> None:
    run = _crash(tmp_path)
    assert run.returncode == 0, run.stderr
    seen = json.loads(run.stdout)["seen"]
    assert seen == sorted(seen)  # the old one, until one step makes it the new one
    assert seen.count(1) > 10
    assert seen.count(2) > 3


@pytest.mark.parametrize("bug", ["in-place", "prune-first"])
def test_the_crashes_catch_one_who_is_careless(tmp_path: Path, bug: str) -> None:
    run = _crash(tmp_path, bug)
    assert run.returncode != 0
    complaint = run.stderr.splitlines()[-1]
    assert re.search("nothing is left|no checkpoint is whole|AssertionError: .*manifest", complaint)

"""Recorded and simulated runs as pandas data frames. It needs `pip install oxgang[runs]`.

    from oxgang import runs

    r = runs.read("run")                        # what `oxgang simulate --out run --results parquet` left
    r.jobs.groupby("run").jct_s.mean()
    runs.read("run/sia.oxj").allocations        # a journal, by the program `oxgang`

Times are seconds since the first thing that happened in a run.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from .simulator import SimulatorError, find

TABLES = ("jobs", "rounds", "allocations")


@dataclass(frozen=True)
class Runs:
    """The runs of a folder. Every table has a column `run`, the name of the file.

    `jobs` has a row for each job: outcome, times, GPU time, restarts. `allocations` has one for each time in
    which a job held the same GPUs in one state: training, restoring, or idle, until the end of the round in
    which it ended. `rounds` has one for each round and GPU type: GPUs there and held, jobs that run and wait.
    """

    jobs: pd.DataFrame
    rounds: pd.DataFrame
    allocations: pd.DataFrame


def read(path: str | os.PathLike[str], *, program: str | None = None) -> Runs:
    """Read a folder of `oxgang simulate --out` or a journal (.oxj).

    Tables are read where they are; journals without tables are read by the program.
    """
    path = Path(path)
    if not path.is_dir():
        if not path.exists():
            raise FileNotFoundError(f"{path}: no such file or folder")
        return _of_journals([path], program)
    names = sorted({f.name.removesuffix(f".jobs{f.suffix}") for f in path.iterdir() if f.name.endswith((".jobs.parquet", ".jobs.csv"))})
    if names:
        return _tables(path, names)
    journals = sorted(path.glob("*.oxj"))
    if not journals:
        raise FileNotFoundError(f"{path}: neither tables nor journals of a run")
    return _of_journals(journals, program)


def _of_journals(journals: Sequence[Path], program: str | None) -> Runs:
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run(
            [find(program), "report", *map(str, journals), "--report=", "-q", "--out", out],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise SimulatorError(done.stderr.strip())
        return _tables(Path(out), [j.stem for j in journals])


def _tables(folder: Path, names: Sequence[str]) -> Runs:
    return Runs(*(pd.concat([_table(folder / f"{name}.{table}") for name in names], ignore_index=True) for table in TABLES))


def _table(path: Path) -> pd.DataFrame:
    """The table at a path without its ending."""
    parquet = path.with_name(path.name + ".parquet")
    return pd.read_parquet(parquet) if parquet.exists() else pd.read_csv(path.with_name(path.name + ".csv"))

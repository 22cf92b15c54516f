# %% [markdown]
# # Mean completion times of docs/experiments/matrix.md, and their distribution
#
# The family `philly-like` of the matrix: the embedded scenario under four policies, on seeds 1 and 2. This
# file is a notebook in jupytext's percent format: `jupytext --to notebook figure_jct.py`, or run it directly.
# It needs `pip install oxgang[runs]` and the program `oxgang`; with matplotlib it draws.

# %%
import subprocess
from pathlib import Path

import pandas as pd

from oxgang import runs, simulator

POLICIES = ["oxgang", "sia", "srtf", "easy"]
OUT = Path("figure-jct")

# %%
command = [simulator.find(), "simulate", "--policy", ",".join(POLICIES), "--seeds", "2"]
subprocess.run([*command, "--out", str(OUT), "--results", "parquet", "--report=", "-q"], check=True, capture_output=True)
jobs = runs.read(OUT).jobs

# %% [markdown]
# The matrix has the mean over seeds of the mean over jobs.

# %%
hours = jobs.assign(hours=jobs.jct_s / 3600)
means = hours.groupby(["policy", "seed"]).hours.mean().groupby("policy").mean().loc[POLICIES]
print(means.round(3).to_string())

# %% [markdown]
# The share of jobs that are done within a time: what the report of `oxgang simulate` draws.


# %%
def curve(of: "pd.Series[float]") -> "pd.Series[float]":
    """The share of values that are no more, by value."""
    ordered = of.sort_values(ignore_index=True)
    return pd.Series((ordered.index + 1) / len(ordered), index=ordered)


curves = {policy: curve(hours[hours.policy == policy].hours) for policy in POLICIES}

# %%
try:
    from matplotlib import pyplot
except ImportError:
    print("without matplotlib there is no drawing")
else:
    figure, axes = pyplot.subplots()
    for policy, c in curves.items():
        axes.step(c.index, c, where="post", label=policy)
    axes.set(xscale="log", xlabel="hours to completion", ylabel="share of jobs")
    axes.legend()
    figure.savefig(OUT / "jct.png")

"""Simulations whose policy is a Python function. It needs the program `oxgang`, and no other package.

    from oxgang import simulator

    def shortest(question):
        return [{"id": job["id"]} for job in sorted(question["jobs"], key=lambda job: job["remaining_s"])]

    measures = simulator.simulate(shortest, {"seed": 1, "generate.jobs": 40})

A question has the fields of policy/external's Question: `gpus`, by type, and `jobs`, each with what it asks
for, what it may have, what it holds, and how long it is believed to need. An answer lists jobs, the most
important first: `id`, and `gpus` and `type` unless the simulator is to choose them. Jobs that are left out
get nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

PROTOCOL = 1

Question = dict[str, Any]
Answer = Sequence[Mapping[str, Any]]


class SimulatorError(RuntimeError):
    """The simulator ended before the run did. The text is its output."""


def find(program: str | None = None) -> str:
    """The given program, or the one in the variable OXGANG_PROGRAM, or `oxgang`."""
    return program or os.environ.get("OXGANG_PROGRAM") or "oxgang"


def flags(settings: Mapping[str, object]) -> list[str]:
    """Settings, with the names of `oxgang config`, as flags of the command line."""
    return [f"--set={name}={_text(value)}" if "." in name else f"--{name}={_text(value)}" for name, value in settings.items()]


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class Simulator:
    """One simulation: a child process. Use it in a `with` statement, which ends it.

    `greeting` has `jobs`, `gpus` and `round_s`. `question` is the round to decide, None at the
    end; then `ending` has `measures`, `job_s` and `unfinished`.
    """

    def __init__(
        self,
        settings: Mapping[str, object] | None = None,
        *,
        out: str | os.PathLike[str] | None = None,
        program: str | None = None,
    ) -> None:
        command = [find(program), "lab", "gym", *flags(settings or {})]
        if out is not None:
            command += ["--out", os.fspath(out), "--results", "parquet"]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("OXGANG_")}
        self._said = tempfile.TemporaryFile("w+")  # a pipe without a reader would fill up
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, env=environment, text=True
        )
        self.question: Question | None = None
        self.ending: dict[str, Any] | None = None
        try:
            self.greeting: dict[str, Any] = self._read()
            if self.greeting.get("protocol") != PROTOCOL:
                raise SimulatorError(f"protocol {self.greeting.get('protocol')}, want {PROTOCOL}")
            self._next()
        except BaseException:
            self.close()
            raise

    def answer(self, jobs: Answer) -> Question | None:
        """Decide the round; return the next question, None if there is none."""
        if self.question is None:
            raise ValueError("the simulation has ended: there is no question to answer")
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps({"jobs": list(jobs)}) + "\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            raise self._failed() from None
        self._next()
        return self.question

    def __iter__(self) -> Iterator[Question]:
        """Each question. Answer it before asking for the next one."""
        while self.question is not None:
            yield self.question

    def _next(self) -> None:
        line = self._read()
        self.ending = line.get("end")
        self.question = None if self.ending is not None else line

    def _read(self) -> dict[str, Any]:
        assert self._child.stdout is not None
        text = self._child.stdout.readline()
        if not text:
            raise self._failed()
        line: dict[str, Any] = json.loads(text)
        return line

    def _failed(self) -> SimulatorError:
        status = self._child.wait()
        self._said.seek(0)
        return SimulatorError(self._said.read().strip() or f"the simulator ended with status {status}")

    def close(self) -> None:
        """End the child process."""
        if self._child.poll() is None and self.ending is None:
            self._child.kill()
        for pipe in (self._child.stdin, self._child.stdout, self._said):
            if pipe is not None and not pipe.closed:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        self._child.wait()

    def __enter__(self) -> Simulator:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def simulate(
    policy: Callable[[Question], Answer],
    settings: Mapping[str, object] | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    program: str | None = None,
) -> dict[str, float]:
    """Simulate under a policy; return the measures of `oxgang simulate -o json`.

    With `out`, the journal and the tables that oxgang.runs reads are written into that folder.
    """
    with Simulator(settings, out=out, program=program) as simulation:
        for question in simulation:
            simulation.answer(policy(question))
        assert simulation.ending is not None
        measures: dict[str, float] = simulation.ending["measures"]
        return measures

"""The messages between a job's rank 0 and the scheduler, as JSON.

Times are seconds, batch sizes samples. The function `number` checks every number that is sent
or received.
"""

from __future__ import annotations

import json
import math
import types
import typing
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar

VERSION = 1
LARGEST = 2.0**53  # maximum of counts: every JSON reader represents them exactly

T = TypeVar("T")


@dataclass(frozen=True)
class Batch:
    """How a replica divides its share of a batch: `accumulation` passes without gradient
    exchange and one with it, of `local` samples each. Zeros leave the choice to the client."""

    local: int = 0
    accumulation: int = 0

    @property
    def per_replica(self) -> int:
        """Samples of one replica in one optimiser step."""
        return self.local * (self.accumulation + 1)


@dataclass(frozen=True)
class Limits:
    """The batch sizes that a job may train with, in samples; init and max are totals."""

    init: int
    max: int
    local_min: int
    local_max: int
    adaptive: bool


@dataclass(frozen=True)
class Regime:
    """A total batch size, and its number of epochs."""

    batch_size: int
    epochs: int


@dataclass(frozen=True)
class Restored:
    """The checkpoint that a generation continues from."""

    step: int
    progress: float
    checksum: str


@dataclass(frozen=True)
class Hello:
    client: str
    generation: int
    world_size: int
    batch: Limits
    schedule: tuple[Regime, ...]
    epochs: int
    samples: float  # at the efficiency of the initial batch, to completion
    restored: Restored | None
    restore_seconds: float
    version: int = VERSION


@dataclass(frozen=True)
class Welcome:
    batch: Batch
    report_seconds: float
    profile: tuple[int, ...]  # local batch sizes to measure first


@dataclass(frozen=True)
class Report:
    generation: int
    sequence: int
    step: int
    progress: float  # samples at the efficiency of the initial batch
    epoch: int
    interval: float
    batch: Batch
    step_time: float  # one pass with gradient exchange
    sync_time: float  # exchange within that pass
    wait_time: float  # for data, per optimiser step
    grad_sqr: float  # relative to the initial batch size; both 0: not measured
    grad_var: float
    profile: bool


@dataclass(frozen=True)
class Notice:
    deadline: float  # Unix time
    reason: str


@dataclass(frozen=True)
class Answer:
    batch: Batch
    notice: Notice | None


@dataclass(frozen=True)
class Checkpoint:
    generation: int
    step: int
    progress: float
    epoch: int
    bytes: int
    seconds: float
    path: str
    checksum: str


@dataclass(frozen=True)
class Failure:
    error: str


def number(name: str, value: float, most: float = math.inf) -> float:
    """Returns value, a finite number from 0 to most; ValueError names the invalid field."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{name} {value!r}, want a number")
    if not 0 <= value <= most or math.isinf(value):
        limit = "finite and at least 0" if math.isinf(most) else f"0 to {most:.0f}"
        raise ValueError(f"{name} {value!r}, want {limit}")
    return value


def encode(message: Any) -> bytes:
    """Returns the JSON of a message; ValueError if it has an invalid number."""
    return json.dumps(_plain("", message), separators=(",", ":"), allow_nan=False).encode()


def _plain(name: str, value: Any) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(number(name, value, LARGEST))
    if isinstance(value, float):
        return number(name, value)
    if isinstance(value, tuple):
        return [_plain(f"{name}[{i}]", v) for i, v in enumerate(value)]
    if is_dataclass(value):
        return {f.name: _plain(_join(name, f.name), getattr(value, f.name)) for f in fields(value)}
    raise ValueError(f"{name} {value!r}, want a number, text or a message")


def decode(kind: type[T], data: bytes) -> T:
    """Returns the message of that kind in data; ValueError if it is invalid.

    Unknown keys are ignored, so that a newer scheduler may send more.
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as e:
        raise ValueError(f"{kind.__name__.lower()}: {e}") from None
    return typing.cast(T, _build(kind, "", value))


def _build(kind: Any, name: str, value: Any) -> Any:
    if is_dataclass(kind) and isinstance(kind, type):
        return _message(kind, name, value)
    origin = typing.get_origin(kind)
    if origin is types.UnionType:  # T | None
        return None if value is None else _build(typing.get_args(kind)[0], name, value)
    if origin is tuple:
        if not isinstance(value, list):
            raise ValueError(f"{name} {value!r}, want a list")
        return tuple(_build(typing.get_args(kind)[0], f"{name}[{i}]", v) for i, v in enumerate(value))
    if kind is float:
        return float(number(name, value))
    if kind is int:
        number(name, value, LARGEST)
        if value != int(value):
            raise ValueError(f"{name} {value!r}, want a whole number")
        return int(value)
    if not isinstance(value, kind):
        raise ValueError(f"{name} {value!r}, want {'true or false' if kind is bool else 'text'}")
    return value


def _message(kind: type, name: str, value: Any) -> Any:
    if not isinstance(value, dict):
        raise ValueError(f"{name or kind.__name__.lower()} {value!r}, want an object")
    hints = typing.get_type_hints(kind)
    missing = [n for n in hints if n not in value]
    if missing:
        raise ValueError(f"{name or kind.__name__.lower()}: {_join(name, missing[0])} is missing")
    return kind(**{n: _build(t, _join(name, n), value[n]) for n, t in hints.items()})


def _join(name: str, field: str) -> str:
    return f"{name}.{field}" if name else field

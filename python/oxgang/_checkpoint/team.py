"""Collective work of a job's ranks: if one rank fails, all raise an error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import torch.distributed as dist

from .error import CheckpointError

T = TypeVar("T")


class Team:
    """The ranks of a process group, or only this process if there is no process group."""

    def __init__(self, group: dist.ProcessGroup | None = None) -> None:
        self.alone = not (dist.is_available() and dist.is_initialized())
        self.group = None if self.alone else group
        self.rank = 0 if self.alone else dist.get_rank(group)
        self.size = 1 if self.alone else dist.get_world_size(group)

    def each(self, what: str, work: Callable[[], T]) -> list[T]:
        """Run work on every rank; return the results by rank.

        If it fails on any rank, every rank raises a CheckpointError that names the first failed
        rank. If work itself is collective, it must fail on all ranks or on none.
        """
        result, error = _attempt(work)
        answers: list[Any] = [(result, error)]
        if not self.alone:
            answers = [None] * self.size
            dist.all_gather_object(answers, (result, error), group=self.group)
        for rank, (_, complaint) in enumerate(answers):
            if complaint is not None:
                raise type(complaint)(f"{what}: {self._who(rank)}{complaint}")
        return [answer for answer, _ in answers]

    def in_turn(
        self, what: str, parts: Mapping[str, T], work: Callable[[str, T], None]
    ) -> None:
        """Run work on one part after the other, on every rank, with the errors of each.

        A part begins only when all ranks have finished the previous one. Otherwise a rank that
        fails would leave the others waiting in a collective.
        """
        for key, part in parts.items():
            self.each(what, partial(work, key, part))

    def first(self, what: str, work: Callable[[], T]) -> T:
        """Run work on rank 0 and return its result on every rank; if it fails, every rank raises."""
        answer: list[Any] = [_attempt(work) if self.rank == 0 else None]
        if not self.alone:
            source = dist.get_global_rank(self.group, 0) if self.group is not None else 0
            dist.broadcast_object_list(answer, src=source, group=self.group)
        result, complaint = answer[0]
        if complaint is not None:
            raise type(complaint)(f"{what}: {complaint}")
        return result  # type: ignore[no-any-return]

    def _who(self, rank: int) -> str:
        return "" if self.alone else f"rank {rank}: "


def _attempt(work: Callable[[], T]) -> tuple[T | None, CheckpointError | None]:
    """Other errors travel between ranks as text, because some exceptions cannot be pickled."""
    try:
        return work(), None
    except CheckpointError as e:
        return None, e
    except Exception as e:
        return None, CheckpointError(f"{type(e).__name__}: {e}")

import itertools

import pytest

from oxgang.batching import Plan, batch_at, cut
from oxgang.protocol import Batch, Limits, Regime
from oxgang.reporting import cover

FIXED = Limits(128, 128, 1, 128, False)
FREE = Limits(128, 1024, 1, 64, True)


def broken_cut(start, stop, world, rank, local):
    """A seeded bug: whole shares only, the remainder is lost."""
    return cut(start, max(start + world, stop - (stop - start) % world), world, rank, local)


def whole(cut, size, world, local, start=7):
    """Whether the passes of all ranks cover a batch once, with weights of a mean."""
    ranks = [list(cut(start, start + size, world, r, local)) for r in range(world)]
    seen = sorted(itertools.chain(*(range(m.start, m.stop) for r in ranks for m in r)))
    weights = sum(m.weight for r in ranks for m in r)
    return (
        seen == list(range(start, start + size))
        and abs(weights - 1) < 1e-12
        and len({len(r) for r in ranks}) == 1
        and all(m.size <= local for r in ranks for m in r)
        and all([m.last for m in r] == [False] * (len(r) - 1) + [True] and r[0].first for r in ranks)
    )


SIZES = [(s, w, n) for s in (1, 2, 3, 5, 13, 64, 127, 128) for w in (1, 2, 3, 4, 8) for n in (1, 3, 16, 200)]


def test_every_sample_once_and_weighted_rightly():
    assert all(whole(cut, *case) for case in SIZES)
    assert not all(whole(broken_cut, *case) for case in SIZES)


def test_sizes_differ_by_at_most_one_within_a_rank():
    for size, world, local in SIZES:
        for rank in range(world):
            sizes = [m.size for m in cut(0, size, world, rank, local)]
            assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    "world, wanted, total, used",
    [
        (1, Batch(), 128, Batch(128, 0)),
        (4, Batch(), 128, Batch(32, 0)),
        (3, Batch(), 128, Batch(43, 0)),
        (1, Batch(32, 0), 128, Batch(32, 3)),
        (1, Batch(32, 9), 128, Batch(32, 3)),
        (1, Batch(50, 0), 128, Batch(43, 2)),
        (4, Batch(500, 7), 128, Batch(32, 0)),
    ],
)
def test_the_users_batch_stays(world, wanted, total, used):
    p = Plan(FIXED, (), world)
    p.wanted = wanted
    assert (p.total(0), p.used(0)) == (total, used)


@pytest.mark.parametrize(
    "world, wanted, total, used",
    [
        (2, Batch(), 128, Batch(64, 0)),
        (2, Batch(64, 1), 256, Batch(64, 1)),
        (2, Batch(500, 0), 1000, Batch(63, 7)),  # local_max
        (2, Batch(64, 99), 1024, Batch(64, 7)),  # max
        (2, Batch(8, 0), 128, Batch(8, 7)),  # init
    ],
)
def test_an_adaptive_batch_is_obeyed_between_limits(world, wanted, total, used):
    p = Plan(FREE, (), world)
    p.wanted = wanted
    assert (p.total(0), p.used(0)) == (total, used)


def test_schedule():
    s = (Regime(16, 2), Regime(32, 1))
    assert [batch_at(s, e) for e in range(5)] == [16, 16, 32, 32, 32]
    assert Plan(Limits(16, 32, 1, 32, False), s).total(2) == 32
    assert cover([(16, 2), (32, 1)], 2) == [(16, 2)]
    assert cover([(16, 2), (32, 1)], 5) == [(16, 2), (32, 3)]
    assert cover([], 5) == []


@pytest.mark.parametrize(
    "limits, schedule, says",
    [
        (Limits(0, 1, 1, 1, False), (), "batch size 0"),
        (Limits(8, 4, 1, 8, True), (), "max_batch_size 4, want at least the batch size 8"),
        (Limits(8, 8, 1, 0, False), (), "local_max 0"),
        (FREE, (Regime(1, 1),), "adaptive=True"),
        (FIXED, (Regime(4, 1), Regime(4, 0)), "schedule entry 2"),
    ],
)
def test_bad_limits_are_named(limits, schedule, says):
    with pytest.raises(ValueError, match=says):
        Plan(limits, schedule)

"""How sure a time is: 95 % intervals from samples, and the verdict on two versions.

The median represents a row, because a single disturbed sample hardly moves it. Its interval lies
between two of the sorted samples (the inverse of the sign test). It holds for any distribution of
the samples, while a mean and its standard error need a normal one, which times with their one-sided
tail do not have. The interval of the ratio of two medians follows from both intervals, on
logarithms, by MOVER (Donner and Zou): the distances to the bounds add up like the sides of a right
triangle.

What it cannot show: samples of one run share the clock, the temperature and the place of the data.
Another run may lie outside. A verdict is about these two runs.
"""

from __future__ import annotations

import functools
import math
import statistics
from typing import Optional, Sequence, Tuple

FASTER, SLOWER, SAME, UNSURE = "FASTER", "SLOWER", "SAME", "UNSURE"
ENOUGH_SAMPLES = 9
SAME_WITHIN = 0.02

Interval = Tuple[float, float]


@functools.lru_cache(maxsize=None)
def rank_of_bound(count: int) -> Optional[int]:
    """How many samples to leave out at each end so that the rest covers the median in 95 % of all
    cases; None if not even all samples do (fewer than six)."""
    below, left_out = 0.0, None
    for k in range(count // 2):
        below += math.comb(count, k) / 2 ** count  # the median has at most k samples below it
        if 2 * below > 0.05:
            break
        left_out = k
    return left_out


def of_median(samples: Sequence[float]) -> Optional[Interval]:
    """The 95 % interval of the median; None with fewer than nine samples, or with a time of 0."""
    if len(samples) < ENOUGH_SAMPLES or min(samples) <= 0:
        return None
    left_out = rank_of_bound(len(samples))
    assert left_out is not None  # nine samples are enough
    ordered = sorted(samples)
    return ordered[left_out], ordered[-1 - left_out]


def of_ratio(over: Sequence[float], under: Sequence[float]) -> Optional[Interval]:
    """The 95 % interval of median(over) / median(under); None if one of them has none."""
    first, second = of_median(over), of_median(under)
    if first is None or second is None:
        return None
    (low_a, mid_a, high_a), (low_b, mid_b, high_b) = (
        (math.log(low), math.log(statistics.median(samples)), math.log(high))
        for (low, high), samples in ((first, over), (second, under)))
    down = math.hypot(mid_a - low_a, high_b - mid_b)
    up = math.hypot(high_a - mid_a, mid_b - low_b)
    middle = mid_a - mid_b
    return math.exp(middle - down), math.exp(middle + up)


def verdict(base: Sequence[float], other: Sequence[float]) -> str:
    """Compares times per launch: is `other` faster than `base`?

    SAME when the whole 95 % interval of the ratio of the medians lies within 2 % of 1, so it takes
    evidence; FASTER and SLOWER when it lies on one side of 1. What is left, and anything with fewer
    than nine samples, is UNSURE.
    """
    interval = of_ratio(other, base)
    if interval is None:
        return UNSURE
    low, high = interval
    if 1 - SAME_WITHIN <= low and high <= 1 + SAME_WITHIN:
        return SAME
    return FASTER if high < 1 else SLOWER if low > 1 else UNSURE


def half_width(samples: Sequence[float]) -> Optional[float]:
    """Half the interval of the median over the median: the +- of a row."""
    interval = of_median(samples)
    if interval is None:
        return None
    return (interval[1] - interval[0]) / 2 / statistics.median(samples)

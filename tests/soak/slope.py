"""How much a figure grows in an hour, and whether that is too much.

The first third of a soak is the warm-up.  The rest is cut into blocks of equal length, and each block counts by one value:
its median, or, for a resource, a low quantile, which is what is held while the least is under way.  What leaks is held then
as well.  In a long soak, all sorts of hostile clients have their turn within a block.  So a single odd sample weighs little, and neighbouring
samples, which resemble each other, do not feign certainty.

The slope over the blocks is Theil and Sen's, the median of the slopes between all pairs; its confidence interval (95 %)
follows from the distribution of Kendall's rank statistic.  Growth is the slope for an hour, divided by the median of all
blocks."""
import dataclasses
import math
import statistics

LIMIT_PER_HOUR = 0.02
BLOCKS_MAX = 24
BLOCKS_MIN = 8
BLOCK_S = 100.0
LONG_S = 1800.0  # from here on a resource may not grow by more than the limit, significant or not
Z = 1.96


@dataclasses.dataclass
class Growth:
    """Relative to the median, by the hour.  `total` is the growth over the measured time, in the figure's own unit."""
    median: float
    per_hour: float
    low: float
    high: float
    total: float
    blocks: int


def quantile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def block_count(duration_s):
    """Of a soak of this length."""
    return max(BLOCKS_MIN, min(BLOCKS_MAX, int(duration_s * 2 / 3 / BLOCK_S)))


def blocks_of(samples, part=0.5):
    """(middle of the block's times, this quantile of its values) of the last two thirds of [(time, value)]."""
    begin, end = samples[0][0], samples[-1][0]
    count = block_count(end - begin)
    begin += (end - begin) / 3
    width = (end - begin) / count
    groups = {}
    for time, value in samples:
        if time >= begin and width > 0:
            groups.setdefault(min(count - 1, int((time - begin) / width)), []).append((time, value))
    return [(statistics.median(time for time, _ in group), quantile([value for _, value in group], part))
            for _, group in sorted(groups.items())]


def theil_sen(points):
    """(slope, lower bound, upper bound)."""
    slopes = sorted((right[1] - left[1]) / (right[0] - left[0]) for i, left in enumerate(points)
                    for right in points[i + 1:] if right[0] > left[0])
    count = len(points)
    spread = Z * math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    low = max(0, math.floor((len(slopes) - spread) / 2))
    high = min(len(slopes) - 1, math.ceil((len(slopes) + spread) / 2))
    return statistics.median(slopes), slopes[low], slopes[high]


def growth(samples, part=0.5):
    """None: too few samples to say anything."""
    if len(samples) < BLOCKS_MIN:
        return None
    points = blocks_of(samples, part)
    if len(points) < BLOCKS_MIN - 2:
        return None
    level = statistics.median(value for _, value in points)
    slope, low, high = theil_sen(points)
    if level <= 0:
        return Growth(level, 0.0, 0.0, 0.0, 0.0, len(points))
    by_hour = 3600 / level
    return Growth(level, slope * by_hour, low * by_hour, high * by_hour, slope * (points[-1][0] - points[0][0]),
                  len(points))


def is_too_much(grown, duration_s, noisy=False, floor=0.0):
    """A resource that grows by more than the limit fails a long soak.  A short soak, and a noisy figure (a latency, which
    the machine's other work moves), fails only when the whole confidence interval is above the limit and the growth during
    the soak is above the floor: in a few minutes, 2 % an hour is less than one buffer."""
    if grown is None or grown.per_hour <= LIMIT_PER_HOUR:
        return False
    if duration_s >= LONG_S and not noisy:
        return True
    return grown.low > LIMIT_PER_HOUR and grown.total > floor

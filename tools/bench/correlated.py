"""The intervals and tests of a report for values that are alike in a row (docs/report.md, Intervals), by scipy and statsmodels. Also two other
methods for the same, which must agree roughly: the errors of Newey and West, and a bootstrap of blocks."""

import math

import numpy
import scipy.fft
import scipy.optimize
import scipy.stats
from statsmodels.api import OLS
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

FEWEST, LEAST_INDEPENDENT, OF_A_KIND, FEWEST_EVENTS = 20, 6, 1, 3


class Precision:
    """How exactly the mean of values in a row is known."""

    def __init__(self, values, most_independent=math.inf):
        values = numpy.asarray(values, dtype=float)
        count, size = len(values), min(len(values), 256)
        sums = numpy.add.reduceat(values, numpy.arange(size) * count // size)
        sums -= sums.mean()
        covariances = numpy.correlate(sums, sums, "full")[size - 1:]
        pairs = [covariances[lag] + covariances[lag + 1] for lag in range(0, size - 1, 2)]
        end = next((index for index, pair in enumerate(pairs) if pair <= 0), len(pairs))
        correlation = max(1, 2 * sum(numpy.minimum.accumulate(pairs[:end])) / covariances[0] - 1) if end else 1
        self.independent = min(size / correlation, most_independent)
        self.freedom = min(max(math.floor(0.27 * self.independent), 4), 24)
        # An orthonormal transform has half of the variance's factor 2 / count in itself.
        power = scipy.fft.dct(sums, type=2, norm="ortho")[1:self.freedom + 1] ** 2
        spectrum = power.mean() * size / count * (1 + (math.pi * self.freedom / 2 / self.independent) ** 2 / 3)
        self.error = math.sqrt(spectrum / count)
        self.effective = (values ** 2).sum() / spectrum
        self.events = (sums ** 2).sum() ** 2 / (sums ** 4).sum() * self.independent / size
        self.t = scipy.stats.t.ppf(0.975, self.freedom)

    @property
    def margin(self):
        return self.t * self.error

    def freedom_of(self, rarer):
        """Of a share: the error also comes from about twice as many runs of the rarer kind, whose lengths differ."""
        return 1 / (1 / self.freedom + 1 / (2 * rarer))

    def reduced(self, samples, share):
        return samples * (scipy.stats.norm.ppf(0.975) / scipy.stats.t.ppf(0.975, self.freedom_of(samples * min(share, 1 - share)))) ** 2

    def p(self, value):
        return 2 * scipy.stats.t.sf(abs(value) / self.error, self.freedom)


def precision(values, most_independent=math.inf):
    """`None` where no interval is possible."""
    values = numpy.asarray(values, dtype=float)
    return Precision(values, most_independent) if len(values) >= FEWEST and numpy.ptp(values) > 0 else None


def is_enough(found):
    return found is not None and found.independent >= LEAST_INDEPENDENT


def mean_interval(values):
    values = numpy.asarray(values, dtype=float)
    found = precision(values - values.mean())
    if not is_enough(found):
        return None
    ratio = math.exp(found.margin / values.mean())
    return values.mean() / ratio, values.mean() * ratio, found.effective


def share_interval(share, found):
    if not is_enough(found):
        return None
    samples = share * (1 - share) / found.error ** 2
    if samples * min(share, 1 - share) < OF_A_KIND:
        return None
    number = found.reduced(samples, share)
    return *proportion_confint(number * share, number, method="jeffreys"), samples


def loss_interval(is_lost):
    is_lost = numpy.asarray(is_lost, dtype=float)
    return share_interval(is_lost.mean(), precision(is_lost - is_lost.mean()))


def percentile_intervals(values, percents):
    """The ends and the number of independent values by percent; absent where there is no interval. `values` in their order."""
    values = numpy.asarray(values)
    ordered, count = numpy.sort(values), len(values)

    def position(percent, most_independent=math.inf):
        is_below = values <= numpy.percentile(ordered, percent, method="inverted_cdf")
        return precision(is_below - is_below.mean(), most_independent)

    median, result = position(50), {}
    for percent in percents:
        found = None if median is None else position(percent, median.independent) if percent != 50 else median
        ranks = percentile_ranks(found, percent, count)
        if ranks:
            result[percent] = *(None if rank is None else ordered[rank - 1] for rank in ranks), found.effective
    return result


def percentile_ranks(found, percent, count):
    """The ranks of both ends, `None` for an open one; `None` without an interval. `found` is of the share of values up to the percentile."""
    if not is_enough(found) or found.effective * min(percent, 100 - percent) < 100 * OF_A_KIND:
        return None
    number = found.reduced(found.effective, percent / 100)

    def below(share):
        return scipy.stats.beta.cdf(percent / 100, number * share + 0.5, number * (1 - share) + 0.5)

    def share(level):
        return scipy.optimize.brentq(lambda share: below(share) - level, 0, 1, xtol=1e-15)

    lower = max(1, math.ceil(share(0.975) * count)) if below(0) > 0.975 else None
    upper = min(count, math.floor(share(0.025) * count) + 1) if below(1) < 0.025 else None
    return (lower, upper) if lower or upper else None


def signed_rank(differences):
    """Estimate, interval, independent places and probability; `None` where there is no test. The shifts are ranks of the means of all pairs."""
    values = numpy.asarray(differences, dtype=float)
    count = len(values)
    walsh = numpy.sort([(values[one] + values[other]) / 2 for one in range(count) for other in range(one, count)])
    pairs = len(walsh)

    def ranks(shift):
        return numpy.sign(values - shift) * scipy.stats.rankdata(abs(values - shift)) / count

    if count == 0 or numpy.ptp(values) == 0:
        return None
    estimate = (walsh[math.ceil(pairs / 2) - 1] + walsh[math.floor(pairs / 2)]) / 2
    balanced = ranks(estimate)
    found = precision(balanced - balanced.mean())
    if not is_enough(found):
        return None
    lower = walsh[math.ceil((pairs - found.margin * count ** 2) / 2) - 1]
    upper = walsh[math.floor((pairs + found.margin * count ** 2) / 2)]
    return estimate, lower, upper, found.effective, found.p(ranks(0).mean())


def difference_error(*sides):
    """The standard error and the degrees of freedom, after Welch and Satterthwaite, of sides with these two."""
    variances = [error ** 2 for error, _ in sides]
    return math.sqrt(sum(variances)), sum(variances) ** 2 / sum(variance ** 2 / freedom for variance, (_, freedom) in zip(variances, sides))


def welch(first, second):
    """Two shares with their precisions; `None` where one has no interval."""
    intervals = [share_interval(*side) for side in (first, second)]
    if None in intervals:
        return None
    effect = second[0] - first[0]
    error, freedom = difference_error(*(
        (found.error, found.freedom_of(samples * min(share, 1 - share))) for (share, found), (_, _, samples) in zip((first, second), intervals)))
    margin = scipy.stats.t.ppf(0.975, freedom) * error
    return effect, effect - margin, effect + margin, min(found[2] for found in intervals), 2 * scipy.stats.t.sf(abs(effect) / error, freedom)


def rank_sum(first, second):
    """The median of the differences of all pairs, its interval, independent values and probability; `None` where there is no test."""
    first, second = numpy.asarray(first), numpy.asarray(second)
    differences = numpy.sort(numpy.subtract.outer(second, first).ravel())
    pairs = len(differences)
    shift = differences[(pairs + 1) // 2 - 1]
    # Of each value, the share of the other side below it, when the shift is taken off.
    below = [numpy.sign(numpy.subtract.outer(one, other)).mean(axis=1) / 2 for one, other in ((first + shift, second), (second - shift, first))]
    sides = [precision(side - side.mean()) for side in below]
    if not all(map(is_enough, sides)):
        return None
    error, freedom = difference_error(*((side.error, side.freedom) for side in sides))
    margin = scipy.stats.t.ppf(0.975, freedom) * error
    if margin >= 0.5:
        return None
    tail = max(1, math.floor(pairs * (0.5 - margin) + 0.5))
    u = scipy.stats.mannwhitneyu(first, second).statistic
    p = 2 * scipy.stats.t.sf(abs(0.5 - u / pairs) / error, freedom)
    return shift, differences[tail - 1], differences[pairs - tail], min(side.effective for side in sides), p


def holm(probabilities):
    """`None` is no test."""
    tested = [index for index, p in enumerate(probabilities) if p is not None]
    result = [None] * len(probabilities)
    if tested:
        for index, p in zip(tested, multipletests([probabilities[index] for index in tested], method="holm")[1]):
            result[index] = float(p)
    return result


def verdict(effect, lower, upper, corrected, least):
    if corrected is None:
        return "not enough samples"
    if corrected < 0.05 and abs(effect) >= least:
        return "different"
    return "too small to matter" if max(abs(lower), abs(upper)) < least else "no difference shown"


def other_errors(values, chance):
    """The standard error of the mean by two other methods: Newey and West's, and a moving bootstrap of blocks."""
    values = numpy.asarray(values, dtype=float)
    count = len(values)
    # Seconds, so that the lags stay few.
    seconds = values[:count // 10 * 10].reshape(-1, 10).mean(axis=1)
    lags = round(4 * len(seconds) ** (1 / 3))
    newey = OLS(seconds, numpy.ones(len(seconds))).fit(cov_type="HAC", cov_kwds={"maxlags": lags}).bse[0]
    length = max(10, round(3 * count ** (1 / 3)) * 10)
    starts = chance.integers(0, count - length, size=(1000, math.ceil(count / length)))
    running = numpy.concatenate([[0], numpy.cumsum(values)])
    bootstrap = ((running[starts + length] - running[starts]) / length).mean(axis=1).std()
    return {"Newey and West": newey, "bootstrap of blocks": bootstrap}

"""Decides after each look at a proof's pairs whether more pairs are needed (docs/design/proof-statistics.md).

A group-sequential design with unknown variance. All letters are without unit:

| letter | name | definition |
| --- | --- | --- |
| x_i | logarithm of the ratio of pair i | independent, normal, of equal mean and variance |
| K, n_k | number of looks; pairs at look k | `Design.looks` |
| f_k | share of the maximum number of pairs | n_k / n_K |
| A | chance of a wrong interval over all looks together | 1 - `CONFIDENCE` |
| a(f) | error to spend up to share f | min(A, 2 - 2 Phi(z / sqrt(f))), z = Phi^-1(1 - A/2) |
| p_k | level of look k | a(f_k) - a(f_(k-1)), a(0) = 0 |
| m_k, s_k | mean and standard deviation of the x_i at look k | divisor of s_k^2: n_k - 1 |
| c_k | critical value of look k | quantile 1 - p_k/2 of Student's t, n_k - 1 degrees of freedom |
| l_k, h_k | ends of the repeated interval | m_k -/+ c_k s_k / sqrt(n_k) |

a(f) is the spending function of O'Brien and Fleming's type by Lan and DeMets, "Discrete sequential boundaries
for clinical trials", Biometrika 70 (1983), in the two-sided form of Jennison and Turnbull, "Group Sequential
Methods" (1999), section 7.2. Critical values of t from nominal levels are in their section 4.4. Repeated
intervals are theirs, too: "Interim analyses: the repeated confidence interval approach", JRSS B 51 (1989).

The levels p_k add up to A. So by Bonferroni's inequality the chance that all K intervals contain the mean is
at least 1 - A, whatever stops the proof. This holds for t at any number of pairs. Levels computed from the
joint distribution of normal statistics hold only approximately for few pairs. They would make no interval
narrower by more than 13%, because no level of look k can exceed a(f_k).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from scipy.special import ndtr, ndtri, stdtrit

from rocktune.outcome import StopReason
from rocktune.study.proving.statistics import CONFIDENCE, Interval, geometric_interval, known, worst_ratio
from rocktune.study.specs.spec import VerificationSettings

NEGLIGIBLE = 0.05
"""A chance to be proven better below which a proof stops as "futile"."""


@dataclass(frozen=True)
class Design:
    """The looks of a proof and what counts as equal.

    Attributes:
        looks: increasing numbers of pairs at which the proof may stop; the last one is the maximum. The
            interval of a single look is the plain t interval.
        indifference: a ratio from 1 / (1 + indifference) to 1 + indifference counts as equal; at least 0.
    """

    looks: tuple[int, ...]
    indifference: float = 0.0

    @cached_property
    def levels(self) -> tuple[float, ...]:
        """The levels p_k of the looks."""
        spent = [0.0, *(spent_error(look / self.looks[-1]) for look in self.looks)]
        return tuple(after - before for before, after in pairwise(spent))


def design_of(settings: VerificationSettings) -> Design:
    """Returns the design of the proof that a study's settings describe."""
    return Design(settings.pair_looks, settings.indifference)


@dataclass(frozen=True)
class Continue:
    """The proof needs more pairs.

    Attributes:
        pairs: number of pairs at the next look, those so far included.
    """

    pairs: int


@dataclass(frozen=True)
class Stop:
    """The proof ends.

    Attributes:
        interval: the ratio with its repeated confidence interval.
        reason: why no more pairs are needed.
    """

    interval: Interval
    reason: StopReason


def spent_error(share: float) -> float:
    """Returns a(f), the error that looks up to a share f of the pairs may spend together.

    Args:
        share: f, above 0 and at most 1.
    """
    z = float(ndtri((1 + CONFIDENCE) / 2))
    # The minimum keeps rounding at share 1 from exceeding A.
    return min(1 - CONFIDENCE, 2 * float(ndtr(-z / math.sqrt(share))))


def next_step(
    design: Design, logarithms: Sequence[Sequence[float]], winner_failed: bool = False
) -> Continue | Stop:
    """Returns whether a proof needs more pairs.

    The reasons to stop, in the order in which they are tried:

    - "fixed": the design has one look, and it is reached.
    - "failed": a run of the winner failed, so that it cannot be recommended any more.
    - "better", "worse": the repeated interval lies above or below 1.
    - "equal": the interval lies within what counts as equal.
    - "maximum": the last look is reached.
    - "futile": the chance of "better" at the last look is below `NEGLIGIBLE`; see `chance_of_better`. The
      intervals hold without this rule, so it cannot add false wins (non-binding futility).

    Args:
        design: the looks.
        logarithms: for each workload, at least one, the logarithm of each pair's ratio so far; NaN for a pair
            with a failed run. The ratio is that on the worst workload, see `worst_ratio`.
        winner_failed: whether a run of the winner failed.
    """
    run = len(logarithms[0])
    if run not in design.looks:
        return Continue(next(look for look in design.looks if look > run))
    level = design.levels[design.looks.index(run)]
    interval = worst_ratio(logarithms, 1 - level)
    reason = _reason(design, logarithms, interval, winner_failed)
    if reason is None:
        return Continue(next(look for look in design.looks if look > run))
    return Stop(interval, reason)


def _reason(
    design: Design, logarithms: Sequence[Sequence[float]], interval: Interval, winner_failed: bool
) -> StopReason | None:
    """Returns the reason to stop at a look; None if there is none. See `next_step`."""
    equal = 1 + design.indifference
    reasons: dict[StopReason, bool] = {
        "fixed": len(design.looks) == 1,
        "failed": winner_failed,
        "better": interval.low > 1,
        "worse": interval.high < 1,
        "equal": 1 / equal <= interval.low and interval.high <= equal,
        "maximum": len(logarithms[0]) == design.looks[-1],
    }
    found = next((reason for reason, holds in reasons.items() if holds), None)
    if found is not None:
        return found
    # The winner has to be better on every workload, so the least likely one decides.
    level = design.levels[design.looks.index(len(logarithms[0]))]
    chances = [chance_of_better(design, each, geometric_interval(each, 1 - level)) for each in logarithms]
    return "futile" if min(chances) < NEGLIGIBLE else None


def chance_of_better(design: Design, logarithms: Sequence[float], interval: Interval) -> float:
    """Returns an upper estimate of the chance that the last look shows the winner to be better.

    This is the conditional power of stochastic curtailment: Lan, Simon and Halperin, "Stochastically
    curtailed tests in long-term clinical trials", Sequential Analysis 1 (1982); Jennison and Turnbull (1999),
    section 10.2. The further x_i are normal with mean h_k, the upper end of the repeated interval, and
    standard deviation s_k. With n pairs so far and N = n_K in the end, both without failed pairs, the winner
    is better if the sum of all x_i exceeds c_K s_k sqrt(N). The chance is

        Phi((n m_k + (N - n) h_k - c_K s_k sqrt(N)) / (s_k sqrt(N - n))).

    Args:
        design: the looks.
        logarithms: see `next_step`; fewer than at the last look.
        interval: the repeated interval of this look, of the ratio.

    Returns:
        The chance, from 0 to 1; 1 if fewer than two pairs are known.
    """
    values = known(logarithms)
    so_far, left = values.size, design.looks[-1] - len(logarithms)
    if so_far < 2:
        return 1.0
    deviation, total = float(values.std(ddof=1)), so_far + left
    critical = float(stdtrit(total - 1, 1 - design.levels[-1] / 2))
    expected = float(values.sum()) + left * math.log(interval.high)
    missing = expected - critical * deviation * math.sqrt(total)
    # Pairs without any spread end as "better", "worse" or "equal" before this is asked.
    return float(ndtr(missing / (deviation * math.sqrt(left)))) if deviation else float(missing > 0)

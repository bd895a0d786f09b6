"""Chooses among configurations by their latency at an offered rate, before the proof.

A closed loop does not show a tail: each wait there delays the next operation, so that few operations meet a
stall. Among the fastest configurations of a search, the tails at an offered rate differ by factors.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rocktune.study.proving.statistics import Interval, mean_interval
from rocktune.study.proving.tail import LONGEST_WAIT, Tail
from rocktune.study.proving.verification import Runs, Stage, interleaved
from rocktune.study.specs.spec import VerificationSettings
from rocktune.trial import Configuration

_DECIDABLE_EXCESS = 0.85
"""Largest excess that is worth proving. In proofs the interval of the p99 ratio reaches 9% above its value,
and one value was at least 4% above that of the few runs here. Nearer to the maximum, a proof stays
undecided."""
_MAX_LOSS = 1.25
"""Largest excess over that of a configuration whose runs are known, such as the one that was pruned. A tail
that pruning made 1.4 times as bad within the limits was beyond them in the proof."""


@dataclass(frozen=True)
class TailRatios:
    """The tail of a configuration beside the baseline's at the offered rate; above 1 is worse.

    Attributes:
        p99_ratio: 99th percentile of the latency over the baseline's; NaN if a run failed.
        longest_wait_ratio: longest wait over the baseline's; NaN if a run failed.
        p999_ratio: 99.9th percentile over the baseline's, with its interval; NaN if a run failed.
    """

    p99_ratio: float
    longest_wait_ratio: float
    p999_ratio: Interval

    def excess(self, settings: VerificationSettings) -> float:
        """Returns the largest ratio as a multiple of what the settings allow; infinite if a run failed.

        Of p99.9 the lower end of the interval counts, as in the proof.
        """
        shares = (
            self.p99_ratio / settings.max_p99_ratio,
            self.longest_wait_ratio / settings.max_longest_wait_ratio,
            self.p999_ratio.low / settings.max_p999_ratio,
        )
        return math.inf if any(map(math.isnan, shares)) else max(shares)


@dataclass(frozen=True)
class TailChoice:
    """The result of choosing by tails.

    Attributes:
        chosen: the chosen configuration.
        ratios: the ratios of each candidate that was measured.
        runs: the results of these and of the baseline.
    """

    chosen: Configuration
    ratios: dict[Configuration, TailRatios]
    runs: Runs

    def passed_over(self, candidates: Sequence[Configuration]) -> list[Configuration]:
        """Returns the candidates that come before the chosen one."""
        return list(candidates[: candidates.index(self.chosen)])


def choose_by_tail(
    candidates: Sequence[Configuration],
    baseline: Configuration,
    offered_ops_s: float | None,
    settings: VerificationSettings,
    replicates: Sequence[int],
    ages_s: Sequence[float],
    known: Runs | None = None,
) -> Stage[TailChoice]:
    """Returns the first candidate whose tail is clearly as good as the settings ask, by few runs.

    There is one batch for each candidate until one is good enough. If none is, the candidate with the
    smallest excess is chosen. One that is clearly worse than a candidate with known results is not good
    enough: options without effect in a closed loop may matter to the tail. The proof decides whether the tail
    is kept; this only picks what is worth proving.

    Args:
        candidates: at least one configuration, best first.
        baseline: the configuration to compare with.
        offered_ops_s: the rate at which the study opens the runs of these replicates; see `Tail`.
        settings: the maxima of the ratios.
        replicates: one replicate for each pair.
        ages_s: ages at which the windows of a run end, seconds, increasing. All of them count, since the runs
            begin on loaded stores without a backlog.
        known: results of an earlier choice at the same rate, which are not measured again.
    """
    runs: Runs = dict(known or {})
    ratios = {each: _ratios(each, baseline, offered_ops_s, runs) for each in candidates if each in runs}
    known_excess = min((each.excess(settings) for each in ratios.values()), default=math.inf)
    limit = min(_DECIDABLE_EXCESS, _MAX_LOSS * known_excess)
    for candidate in candidates:
        missing = [side for side in (candidate, baseline) if side not in runs]
        runs |= (yield from interleaved(missing, replicates, *ages_s)) if missing else {}
        ratios[candidate] = _ratios(candidate, baseline, offered_ops_s, runs)
        if ratios[candidate].excess(settings) <= limit:
            return TailChoice(candidate, ratios, runs)
    return TailChoice(min(candidates, key=lambda each: ratios[each].excess(settings)), ratios, runs)


def _ratios(
    candidate: Configuration, baseline: Configuration, offered_ops_s: float | None, runs: Runs
) -> TailRatios:
    """Returns the ratios of the candidate to the baseline; NaN if a run of the candidate failed."""
    sides = {side: runs[side] for side in (candidate, baseline)}
    tail = Tail(candidate, baseline, offered_ops_s, sides, settles=False)
    names = ("latency_us_p99", LONGEST_WAIT, "latency_us_p999")
    p99, longest_wait, p999 = (
        mean_interval([]) if tail.has_failed(tail.winner) else tail.ratio(name) for name in names
    )
    return TailRatios(p99.value, longest_wait.value, p999)

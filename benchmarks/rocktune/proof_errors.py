"""Measures how often proofs err in both phases, and how many pairs they run, on simulated studies."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

from benchmarks.common.claims import Claim, Measured, Settings, decided, main, mean_interval, reported
from benchmarks.common.tables import write_csv
from rocktune.objective import objective_named
from rocktune.study import VerificationSettings
from rocktune.study.proving.latencies import Latencies
from rocktune.study.proving.sequential import design_of
from rocktune.study.proving.verification import Proof, prove
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Configuration, Result, Status, Trial

SOURCE = "the proof"
ENGINE = "none: normal logarithms of ratios"
RATIOS = (1.0, 1.02, 1.05, 1.1, 1.3)
DEVIATIONS = (0.02, 0.04, 0.1)
"""Standard deviations of the logarithm of a pair's ratio."""
STALLS = (0.0, 0.05, 0.15, 0.3)
"""Shares of windows with a stall."""
TAIL_WINDOWS = 12
"""Four pairs with three windows each."""
WINNER, BASELINE = Configuration({"side": 1}), Configuration({"side": 2})
THROUGHPUT_OPS_S = 1e6
AGE_S = 10.0


@dataclass(frozen=True)
class Cell:
    """The proofs of many studies of the same kind.

    Attributes:
        ratio: how many times better the winner really is.
        deviation: standard deviation of the logarithm of a pair's ratio.
        proofs: one proof for each study.
    """

    ratio: float
    deviation: float
    proofs: tuple[Proof, ...]

    @property
    def pairs(self) -> list[int]:
        """The number of pairs of each proof."""
        return [proof.ratio_to_baseline.repeats for proof in self.proofs]

    @property
    def recommended(self) -> int:
        """Number of studies that recommend the winner."""
        return sum(proof.recommended == "best" for proof in self.proofs)

    @property
    def covered(self) -> int:
        """Number of studies whose interval contains the true ratio."""
        return sum(
            proof.ratio_to_baseline.low <= self.ratio <= proof.ratio_to_baseline.high for proof in self.proofs
        )

    def row(self) -> dict[str, float]:
        """Returns the cell as a row of the table."""
        share = {
            f"{reason}_share": sum(proof.stopped == reason for proof in self.proofs) / len(self.proofs)
            for reason in ("better", "worse", "equal", "futile", "maximum")
        }
        return {
            "ratio": self.ratio,
            "pair_deviation": self.deviation,
            "studies": len(self.proofs),
            "mean_pairs": float(np.mean(self.pairs)),
            "recommended_share": self.recommended / len(self.proofs),
            "covered_share": self.covered / len(self.proofs),
            **share,
        }


def simulated(ratio: float, deviation: float, rng: np.random.Generator) -> Proof:
    """Returns the proof of a simulated study.

    Args:
        ratio: how many times better the winner really is.
        deviation: standard deviation of the logarithm of a pair's ratio.
        rng: draws the noise of the pairs.
    """
    settings = VerificationSettings()
    logarithms = rng.normal(math.log(ratio), deviation, settings.limit_pairs)

    def measured(trial: Trial) -> Result:
        factor = math.exp(logarithms[trial.replicate]) if trial.configuration == WINNER else 1.0
        return Result(trial, Status.OK, synthetic_window(0, trial.until_s, THROUGHPUT_OPS_S * factor))

    replicates = range(settings.limit_pairs)
    objective = objective_named("throughput_ops_s")
    stage = prove(WINNER, BASELINE, objective, design_of(settings), replicates, AGE_S)
    try:
        batch = next(stage)
        while True:
            batch = stage.send([measured(trial) for trial in batch.trials])
    except StopIteration as end:
        found: Proof = end.value
        return found


def simulated_windows(stalls: float, ratio: float, rng: np.random.Generator) -> Latencies:
    """Returns the latencies of a configuration at an offered rate.

    Nearly all operations are quick, and their level varies from window to window. In a window with a stall,
    2% of the operations wait up to some 100 ms.

    Args:
        stalls: share of the windows that have a stall.
        ratio: factor of all latencies.
        rng: draws levels and stalls.
    """
    windows = []
    for _ in range(TAIL_WINDOWS):
        level_ns = 3.5e6 * ratio * math.exp(rng.normal(0, 0.35))
        counted = {round(level_ns / 20): 9800, round(level_ns): 150, round(3 * level_ns): 50}
        if rng.random() < stalls:
            stall_ns = 1e8 * ratio * math.exp(rng.normal(0, 0.8))
            counted |= {round(stall_ns * step / 10): 20 for step in range(1, 11)}
        windows.append(counted)
    return Latencies(windows)


def is_kept(stalls: float, settings: VerificationSettings, rng: np.random.Generator) -> bool:
    """Returns whether a tail whose p99 is as much worse as allowed counts as kept."""
    worse = simulated_windows(stalls, settings.max_p99_ratio, rng)
    baseline = simulated_windows(stalls, 1.0, rng)
    return (
        worse.percentile_ratio(baseline, 99).high <= settings.max_p99_ratio
        and worse.longest_wait_ratio(baseline).high <= settings.max_longest_wait_ratio
    )


def share_interval(count: int, studies: int) -> Measured:
    """Returns a share of studies with its 95% interval by Clopper and Pearson."""
    interval = binomtest(count, studies).proportion_ci(0.95, "exact")
    return Measured(count / studies, float(interval.low), float(interval.high), studies)


def proof_errors(settings: Settings) -> list[Claim]:
    """Simulates 1,000 studies for each ratio and spread, and counts wrong recommendations and intervals."""
    studies = 50 if settings.quick else 1000
    rng = np.random.default_rng(settings.seed)
    cells = []
    for ratio in RATIOS:
        for deviation in DEVIATIONS:
            proofs = tuple(simulated(ratio, deviation, rng) for _ in range(studies))
            cells.append(Cell(ratio, deviation, proofs))
            settings.say(f"ratio {ratio:g}, deviation {deviation:g}: {np.mean(cells[-1].pairs):.2f} pairs")
    if settings.out is not None:
        write_csv(settings.out / "cells.csv", [cell.row() for cell in cells])
    return [*_claims(cells), *_tail_claims(settings, studies)]


def _tail_claims(settings: Settings, studies: int) -> Iterator[Claim]:
    """Yields how often a tail at the limit of what is allowed counts as kept."""
    rng, verification = np.random.default_rng(settings.seed), VerificationSettings()
    for stalls in STALLS:
        kept = sum(is_kept(stalls, verification, rng) for _ in range(studies))
        settings.say(f"stalls in {stalls:.0%} of the windows: {kept} of {studies} kept")
        name = f"tails_at_the_limit_kept_stalls_{stalls:g}"
        share = share_interval(kept, studies)
        yield decided(_reported(name, "share of simulated tails", share), high=0.1)


def _claims(cells: list[Cell]) -> Iterator[Claim]:
    for cell in cells:
        about = f"ratio_{cell.ratio:g}_deviation_{cell.deviation:g}"
        if cell.ratio == 1:
            wrong = share_interval(cell.recommended, len(cell.proofs))
            yield decided(
                _reported(f"false_recommendations_{about}", "share of A/A studies", wrong), high=0.05
            )
        covered = share_interval(cell.covered, len(cell.proofs))
        yield _reported(f"covered_{about}", "share of studies", covered)
        yield _reported(f"pairs_{about}", "pairs, mean over studies", mean_interval(cell.pairs))
    every = share_interval(sum(cell.covered for cell in cells), sum(len(cell.proofs) for cell in cells))
    yield decided(_reported("covered", "share of intervals that contain the true ratio", every), low=0.95)


def _reported(name: str, unit: str, measured: Measured) -> Claim:
    return reported(name, SOURCE, unit, measured, engine=ENGINE, device="none")


if __name__ == "__main__":
    main("rocktune.proof_errors", proof_errors, scale=1, quick_scale=1)

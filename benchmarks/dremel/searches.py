"""Intervals over searches, for all benchmarks of Dremel."""

import functools
from collections.abc import Sequence
from dataclasses import replace

from benchmarks.common.claims import (
    Body,
    Claim,
    Settings,
    mean_interval,
    ratio_interval,
    verdict,
)

SEARCHES = 5
"""Searches with seeds of their own, over which intervals are taken.

Winners of different searches differ by about 10% (`alabed.tuners`: 1.61 to 2.03 in five). Five give a
mean to 12%, which decides the difference that matters, 15% over the tuning guide. A claim of 5% between two
ways to search would take 31 of each.
"""


def over_searches(body: Body) -> Body:
    """Returns a benchmark that runs `body` with several seeds (`--searches`); intervals are over the seeds.

    Fresh runs of one search's winner tell how well that winner is known, not how well searches do. Data of
    each seed go into a folder of its own.
    """

    @functools.wraps(body)
    def repeated(settings: Settings) -> list[Claim]:
        if settings.quick:
            return body(settings)
        found = []
        for seed in range(settings.seed, settings.seed + int(settings.extra["searches"])):
            out = None if settings.out is None else settings.out / f"seed-{seed}"
            if out is not None:
                out.mkdir(parents=True, exist_ok=True)
            found.append(body(replace(settings, seed=seed, out=out)))
        return merged(found)

    return repeated


def merged(found: Sequence[Sequence[Claim]]) -> list[Claim]:
    """Returns the claims of several searches as one each, with the mean and interval over the searches.

    Ratios have geometric means. A claim that only some searches make has those searches' mean.
    """
    by_name: dict[str, list[Claim]] = {}
    for claim in (claim for claims in found for claim in claims):
        by_name.setdefault(claim.name, []).append(claim)
    claims = []
    for same in by_name.values():
        values, first = [claim.measured.value for claim in same], same[0]
        ratios = "ratio" in first.unit and min(values) > 0
        measured = ratio_interval(values) if ratios else mean_interval(values)
        unit = f"{first.unit}; over searches"
        claim = replace(first, measured=measured, unit=unit)
        if claim.target and (holds := verdict(claim.target, measured)) is not claim.holds:
            why = "" if holds is True else f"the interval is {measured.low:.3g} to {measured.high:.3g}"
            claim = replace(claim, holds=holds, why=why)
        claims.append(claim)
    return claims

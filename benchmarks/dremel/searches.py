"""Intervals over searches, for all benchmarks of Dremel."""

import functools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.common.claims import (
    Body,
    Claim,
    Settings,
    mean_interval,
    ratio_interval,
    reported,
    verdict,
)
from benchmarks.common.tables import Row, read_rows, typed, write_csv
from rocktune.workload.dremel_settings import DremelSetting

SEARCHES = 5
"""Searches with seeds of their own, over which intervals are taken.

Winners of different searches differ by about 10% (`alabed.tuners`: 1.61 to 2.03 in five). Five give a
mean to 12%, which decides the difference that matters, 15% over the tuning guide. A claim of 5% between two
ways to search would take 31 of each.
"""

_OVER_SETTINGS = "geometric mean over settings"


def over_settings(
    name: str,
    source: str,
    unit: str,
    ratios: Sequence[float],
    paper: float | str | None = None,
    *,
    engine: str,
    settings: Sequence[DremelSetting],
) -> Claim:
    """Returns a claim of a ratio in all settings, one figure each, with its interval over the settings."""
    devices = ", ".join(sorted({setting.device for setting in settings}))
    unit = f"{unit}, {_OVER_SETTINGS}"
    return reported(name, source, unit, ratio_interval(ratios), paper, engine=engine, device=devices)


def over_searches(body: Body) -> Body:
    """Returns a benchmark that runs `body` with several seeds (`--searches`); intervals are over the seeds.

    Fresh runs of one search's winner tell how well that winner is known, not how well searches do. What a
    seed writes goes into a folder of its own; tables of equal names are then joined, with a column `search`.
    """

    @functools.wraps(body)
    def repeated(settings: Settings) -> list[Claim]:
        if settings.quick:
            return body(settings)
        found = []
        seeds = range(settings.seed, settings.seed + int(settings.extra["searches"]))
        for seed in seeds:
            out = None if settings.out is None else _folder(settings.out, seed)
            if out is not None:
                out.mkdir(parents=True, exist_ok=True)
            found.append(body(replace(settings, seed=seed, out=out)))
        if settings.out is not None:
            _write_joined(settings.out, seeds)
        return merged(found)

    return repeated


def _folder(out: Path, seed: int) -> Path:
    return out / f"seed-{seed}"


def _write_joined(out: Path, seeds: Iterable[int]) -> None:
    """Joins the tables of equal names in the searches' folders."""
    rows = dict[str, list[Row]]()
    for seed in seeds:
        for path in _folder(out, seed).glob("*.csv"):
            of_seed = [{"search": seed, **row} for row in read_rows(path, typed())]
            rows.setdefault(path.name, []).extend(of_seed)
    for name, joined in rows.items():
        write_csv(out / name, joined)


def merged(found: Sequence[Sequence[Claim]]) -> list[Claim]:
    """Returns the claims of several searches as one each, with the mean and interval over the searches.

    Ratios have geometric means. A claim that only some searches make has those searches' mean. What a single
    search found in several settings keeps its interval over the settings.
    """
    by_name: dict[str, list[Claim]] = {}
    for claim in (claim for claims in found for claim in claims):
        by_name.setdefault(claim.name, []).append(claim)
    claims = []
    for same in by_name.values():
        values, first = [claim.measured.value for claim in same], same[0]
        if len(same) == 1 and _OVER_SETTINGS in first.unit:
            claims.append(first)
            continue
        ratios = "ratio" in first.unit and min(values) > 0
        measured = ratio_interval(values) if ratios else mean_interval(values)
        unit = f"{first.unit}; over searches"
        claim = replace(first, measured=measured, unit=unit)
        if claim.target and (holds := verdict(claim.target, measured)) is not claim.holds:
            why = "" if holds is True else f"the interval is {measured.low:.3g} to {measured.high:.3g}"
            claim = replace(claim, holds=holds, why=why)
        claims.append(claim)
    return claims

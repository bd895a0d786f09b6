"""Fresh runs of what searches of a model ended with, so that a comparison ends on the store."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.alabed.modelled import THROUGHPUT
from benchmarks.alabed.setups import spec_of
from benchmarks.common.chosen import measure_chosen
from benchmarks.common.claims import Claim, Settings, decided, ratio_interval, reported
from benchmarks.common.measuring import processors_awake
from benchmarks.common.tables import read_rows, typed, write_csv
from rocktune.api.engines import opened_engine
from rocktune.ledger import open_ledger
from rocktune.space import Configuration
from rocktune.study import kept_trials, space_of
from rocktune.study.seeds import PROVE
from rocktune.trial import Status

Winners = Mapping[str, Mapping[int, Configuration]]
"""By tuner and seed of the search."""
Gave = Mapping[Configuration, float]
"""Throughput by configuration, the geometric mean of its runs."""
SOURCE = "fresh runs of the winners"


def measured_winners(name: str, winners: Winners, out: Path, ledger: str, settings: Settings) -> Gave:
    """Measures the winners and the default, `--fresh` runs each, interleaved.

    Args:
        name: one of `SETUPS`.
        winners: what the searches ended with.
        out: directory of the runs, NAME-winners.csv. Nothing is measured if it has all winners.
        ledger: file of the ledger; an interrupted measurement of the same winners continues.
        settings: with the flag `fresh`.

    Returns:
        What the store gave; without those of which each run failed. Empty with `--fresh 0` or `--quick`.
    """
    fresh = 0 if settings.quick else int(settings.extra["fresh"])
    path = out / f"{name}-winners.csv"
    chosen = dict.fromkeys(each for searched in winners.values() for each in searched.values())
    if not fresh or not chosen:
        return {}
    if not chosen.keys() <= _read(path).keys():
        settings.say(f"{name}: measuring {len(chosen)} winners {fresh} times")
        write_csv(path, _measured(name, list(chosen), fresh, ledger, settings))
    return _read(path)


def _read(path: Path) -> dict[Configuration, float]:
    runs: dict[Configuration, list[float]] = {}
    for row in read_rows(path, typed(str, run=int, **{THROUGHPUT: float})):
        runs.setdefault(Configuration(json.loads(row["winner"])), []).append(math.log(row[THROUGHPUT]))
    return {each: math.exp(float(np.mean(logs))) for each, logs in runs.items()}


def _measured(
    name: str, chosen: list[Configuration], fresh: int, ledger: str, settings: Settings
) -> list[dict[str, str | int | float]]:
    # Other winners are another study.
    digest = hashlib.sha256(repr(sorted(each.key for each in chosen)).encode()).hexdigest()[:8]
    spec = spec_of(name, f"held-out-{name}-winners-{digest}", len(chosen), settings)
    rng = np.random.default_rng(settings.seed)
    runs = [*chosen, space_of(spec).default()]
    batches = [
        [(runs[place], replicate)]
        for replicate in range(PROVE, PROVE + fresh)
        for place in rng.permutation(len(runs))
    ]
    with (
        processors_awake(),
        opened_engine(spec.engine) as engine,
        open_ledger(f"sqlite:///{ledger}") as records,
    ):
        study = measure_chosen(engine, records, spec, batches, "again")
        return [
            {
                "winner": each.trial.configuration.key,
                "run": each.trial.replicate - PROVE,
                THROUGHPUT: each.window.figures[THROUGHPUT],
            }
            for each in kept_trials(records, study)
            if each.result.status is Status.OK and each.window is not None
        ]


def claims_on_the_store(
    winners: Winners, gave: Gave, default: Configuration, contrasts: Sequence[tuple[str, str, str]]
) -> list[Claim]:
    """Returns each tuner's throughput over the default's, and one tuner's over another's, paired by seed.

    Args:
        winners: what the searches ended with.
        gave: what the store gave.
        default: the default.
        contrasts: tuners of which the first should find at least what the second finds, and the source.
    """

    def ratio(name: str, source: str, unit: str, pairs: Sequence[float]) -> Claim:
        return reported(name, source, unit, ratio_interval(pairs), engine="", device="")

    found = {
        tuner: {seed: gave[each] for seed, each in searched.items() if each in gave}
        for tuner, searched in winners.items()
    }
    claims = [
        ratio(
            f"{tuner}_over_default_on_the_store",
            SOURCE,
            "ratio of throughput, the winner of each search over the default",
            [each / gave[default] for each in by_seed.values()],
        )
        for tuner, by_seed in found.items()
        if by_seed and default in gave
    ]
    for one, other, source in contrasts:
        first, second = found.get(one, {}), found.get(other, {})
        pairs = [first[seed] / second[seed] for seed in first if seed in second]
        if pairs:
            unit = "ratio of throughput of the winners, paired by the search's seed"
            claims.append(decided(ratio(f"{one}_over_{other}_on_the_store", source, unit, pairs), low=1))
    return claims

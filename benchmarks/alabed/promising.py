"""Runs where a model of a table promises most, so that searches of the model do not end where it errs.

A model that errs by 7% at random configurations promised 25,000 operations/s where the store gave 14,000: its
maximum lies where no run was. Each round measures what it promises most and fits it again.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.alabed.modelled import THROUGHPUT, Modelled
from benchmarks.alabed.setups import Sampled, spec_of
from benchmarks.common.chosen import measure_chosen
from benchmarks.common.claims import Measured, Settings, exactly, ratio_interval
from benchmarks.common.measuring import processors_awake
from rocktune.api.engines import opened_engine
from rocktune.ledger import open_ledger
from rocktune.space import Configuration
from rocktune.study.recording import table_of
from rocktune.study.seeds import SEARCH
from rocktune.table import Table, read_table, write_table
from rocktune.trial import Status

_PER_ROUND = 12
_PARENTS, _GENERATIONS, _CHILDREN = 40, 10, 40
_FRESH = 0.15
"""Share of a child's knobs that have a random value; the others are those of its parents."""
KEPT = 0.9
"""What the store should give of what the model promises; 10% matters between tuners."""


def refined(
    name: str, runs: Sampled, left_out: int, out: Path, ledger: str, settings: Settings
) -> tuple[Sampled, list[Measured]]:
    """Measures where models promise most, in rounds; ends when the store keeps at least `KEPT` of it.

    Args:
        name: one of `SETUPS`.
        runs: the random runs.
        left_out: number of runs drawn from the whole space that models do not see.
        out: directory of the tables, NAME-promising-ROUND.csv. Rounds that are there are not repeated.
        ledger: file of the ledger.
        settings: with the flag `rounds`, the maximum number of rounds.

    Returns:
        The runs with those of all rounds, and by round measured over promised throughput.
    """
    kept = list[Measured]()
    # A smoke run has formulas, which a run of a fifth of a second does not fit to.
    for number in range(1, 1 + (0 if settings.quick else int(settings.extra["rounds"]))):
        modelled = Modelled(runs.merged(left_out))
        path = out / f"{name}-promising-{number}.csv"
        if not path.exists():
            rng = np.random.default_rng([settings.seed, number])
            chosen = promised_most(modelled, _PER_ROUND, rng)
            settings.say(f"{name}, round {number}: measuring {len(chosen)} promising configurations")
            write_table(path, _measured(path.stem, name, chosen, ledger, settings))
        table = read_table(path)
        runs = replace(runs, promising=(*runs.promising, table))
        sound = [row for row in table.rows if row.status is Status.OK]
        ratios = [row.figures[THROUGHPUT] / modelled.truth(row.configuration) for row in sound]
        kept.append(ratio_interval(ratios) if ratios else exactly(0, 0))
        settings.say(f"{name}, round {number}: {kept[-1].value:.2f} of the promised throughput")
        if kept[-1].value >= KEPT:
            break
    return runs, kept


def promised_most(of: Modelled, count: int, rng: np.random.Generator) -> list[Configuration]:
    """Returns the best configurations of a model by evolutions that begin with different runs.

    Args:
        of: the model.
        count: number of evolutions; those that end alike count once.
        rng: draws parents and children.
    """
    known = list(dict.fromkeys(row.configuration for row in of.table.rows if row.status is Status.OK))
    return list(dict.fromkeys(_evolved(of, known, rng) for _ in range(count)))


def _evolved(of: Modelled, known: list[Configuration], rng: np.random.Generator) -> Configuration:
    begun = [known[place] for place in rng.choice(len(known), min(_PARENTS, len(known)), replace=False)]
    pool = {each: of.truth(each) for each in begun}
    for _ in range(_GENERATIONS):
        best = sorted(pool, key=lambda each: -pool[each])[: _PARENTS // 2]
        for fresh in of.space.sample(_CHILDREN, rng):
            one, other = (best[place] for place in rng.integers(len(best), size=2))
            drawn = rng.random((len(fresh), 2))
            child = of.space.activated(
                {
                    knob: fresh[knob] if new < _FRESH else (one if first < 0.5 else other).get(knob, value)
                    for (knob, value), (new, first) in zip(fresh.items(), drawn, strict=True)
                }
            )
            if not of.space.broken_rules(child):
                pool[child] = of.truth(child)
    best_of_all: Configuration = max(pool, key=lambda each: pool[each])
    return best_of_all


def _measured(study: str, name: str, chosen: list[Configuration], ledger: str, settings: Settings) -> Table:
    """Measures configurations under the conditions of the random runs."""
    spec = spec_of(name, f"held-out-{study}", len(chosen), settings)
    # In the sweeps' data directory, because equal configurations gave a quarter less on a RAM disk.
    with (
        processors_awake(),
        opened_engine(spec.engine) as engine,
        open_ledger(f"sqlite:///{ledger}") as records,
    ):
        measured = measure_chosen(engine, records, spec, [[(each, SEARCH)] for each in chosen], "sweep")
        return table_of(records, measured)

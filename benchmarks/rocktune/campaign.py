"""Compares tuners in space `full` by what the configurations that they find sustain on aged stores.

On each workload every tuner searches with an equal budget. The configurations that they choose and those that
people set by hand are then measured together, interleaved, on aged stores with seeds that no search saw, in
windows of `--window` seconds at full size. Longer ones show whether the figures of a load that writes little
repeat. Claims are on a workload's longest windows. With
`--out` an interrupted campaign continues after the last search or round that is recorded there.
"""

import itertools
import json
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from benchmarks.common.claims import (
    Claim,
    Settings,
    decided,
    exactly,
    main,
    median_spread,
    ratio_interval,
    reported,
)
from benchmarks.common.flags import check_flags
from benchmarks.common.measuring import embedded_engine
from benchmarks.common.searching import Row, Store, searched
from benchmarks.common.tables import read_rows, typed, write_csv
from rocktune import api
from rocktune.constraint import YIELDED_FACTOR
from rocktune.engine import EmbeddedEngine
from rocktune.space import Configuration
from rocktune.study import StudySpec, seeds
from rocktune.study.specs.bounds import MAX_SPACE_AMPLIFICATION
from rocktune.trial import Batch, Trial
from rocktune.tuners import Problem
from rocktune.tuners.hand import hand_set
from rocktune.units import format_scale

DEVICE = "ssd-100mb"
SOURCE = "the campaign of space full"
TUNERS = ("auto", "tpe", "dremel", "random")
GUIDE = "guide"
TRIAL_FULL_SIZE_S = 120.0
FIELDS = (
    "sustained_throughput_ops_s",
    "mean_space_amplification",
    "max_space_amplification",
    "full_size_memory_bytes",
    "write_amplification",
    "read_latency_us_p99",
    "others_cpu_share",
)
CLEAR = 1.15
"""Ratio to the best by hand that counts as a clear gain."""
MAX_SECONDS = 150.0
"""Seconds of measuring in which `auto` should be near the best, in the median workload."""
FREE = frozenset({"workloads", "tuners", "seeds", "rounds", "window"})
"""Flags that may differ between runs that share an `--out`: the rows tell what they name."""
MAX_ROUNDS = 100
"""Rounds of a search have workload seeds of their own as long as there are no more."""
NEAR = 0.95
"""Share of the best figure of a workload that counts as near the best."""

RoundKey = tuple[int, int]
"""A round: the seed of its search, and its number."""


class Campaign:
    """The searches and rounds of a campaign; each is measured once and kept."""

    def __init__(self, settings: Settings, engine: EmbeddedEngine) -> None:
        self._settings = settings
        self._engine = engine
        self.winners = self._kept("winners", typed(seed=int, trials=int))
        self.trials = self._kept("trials", typed(float, workload=str, tuner=str, seed=int))
        self.rounds = self._kept(
            "rounds", typed(float, workload=str, seed=int, window_s=int, round=int, side=str)
        )

    def spec(self, workload: str, tuner: str, seed: int) -> StudySpec:
        """Returns the specification of a search; nothing is recorded under its name."""
        return api.prepare(
            workload=workload,
            device=DEVICE,
            space="full",
            tuner=tuner,
            protocol="steady",
            scale=format_scale(self._settings.scale),
            budget=int(self._settings.extra["trials"]) * TRIAL_FULL_SIZE_S / self._settings.scale,
            seed=seed,
            study=f"{workload}-{tuner}-{seed}",
        ).spec

    def search(self, workload: str, tuner: str, seed: int) -> None:
        """Runs a search unless it is recorded."""
        key = {"workload": workload, "tuner": tuner, "seed": seed}
        if any(key.items() <= row.items() for row in self.winners):
            return
        winner, rows = searched(self.spec(workload, tuner, seed), self._engine)
        self.winners.append({**key, "trials": len(rows), "configuration": json.dumps(dict(winner.items()))})
        self.trials += ({**key, **row} for row in rows)
        self._write("winners", self.winners)
        self._write("trials", self.trials)
        found = max((row["figure"] for row in rows if row["figure"] == row["figure"]), default=math.nan)
        self._settings.say(f"{workload}: {tuner} {seed}: {len(rows)} trials, best {found:.0f} operations/s")

    def measure_round(self, workload: str, tuners: Sequence[str], seed: int, number: int) -> None:
        """Measures what the tuners found and the hand-set configurations once each, unless recorded."""
        window_s = int(self._settings.extra["window"])
        key = {"workload": workload, "seed": seed, "window_s": window_s, "round": number}
        if any(key.items() <= row.items() for row in self.rounds):
            return
        spec = self.spec(workload, tuners[0], seed)
        with closing(Store(spec, self._engine)) as store:
            sides = self._sides(workload, tuners, seed, store.problem)
            names = list(sides)
            # Each round begins with another one, so that drift favours none.
            names = names[number % len(names) :] + names[: number % len(names)]
            age_s, rows = store.problem.age_s(window_s), []
            for name in names:
                trial = Trial(sides[name], age_s, seeds.PROVE + MAX_ROUNDS * (seed - 1) + number)
                (result,) = store.measure_alone(Batch((trial,)))
                rows.append({**key, "side": name} | {field: result.figure(field) for field in FIELDS})
        self.rounds += rows
        self._write("rounds", self.rounds)
        self._settings.say(f"{workload}: round {number}: " + ", ".join(_told(row) for row in rows))

    def _sides(
        self, workload: str, tuners: Sequence[str], seed: int, problem: Problem
    ) -> dict[str, Configuration]:
        """Returns the configurations of a round by name: of tuners, and set by hand."""
        found = {}
        for row in self.winners:
            if row["tuner"] in tuners and (row["workload"], row["seed"]) == (workload, seed):
                found[row["tuner"]] = Configuration(json.loads(row["configuration"]))
        by_hand = {each.name: each.configuration for each in hand_set(problem.space)}
        return found | {name: each for name, each in by_hand.items() if each is not None}

    def _kept(self, name: str, made: Callable[[Mapping[str, str]], Row]) -> list[Row]:
        out = self._settings.out
        return read_rows(None if out is None else out / f"{name}.csv", made)

    def _write(self, name: str, rows: list[Row]) -> None:
        if self._settings.out is not None:
            write_csv(self._settings.out / f"{name}.csv", rows)


def _told(row: Row) -> str:
    return f"{row['side']} {row[FIELDS[0]]:.0f}"


class Rounds:
    """The rounds of a workload."""

    def __init__(self, rows: Sequence[Row], tuners: Sequence[str], memory_bytes: int) -> None:
        """Reads the rows of `Campaign.rounds` that are of one workload.

        Args:
            rows: the rows.
            tuners: the names of tuners; all other sides are set by hand.
            memory_bytes: bound of `full_size_memory_bytes`.
        """
        self.hand = list(dict.fromkeys(row["side"] for row in rows if row["side"] not in tuners))
        self.searches = list(dict.fromkeys(row["seed"] for row in rows))
        self._rows = rows
        self._memory_bytes = memory_bytes

    def keeps(self, side: str) -> bool:
        """Returns whether a side keeps the default constraints in the mean of the rounds of every search."""
        return all(
            self._keeps(of_side, [row for row in self._rows if row["side"] == GUIDE and row["seed"] == seed])
            for seed in self.searches
            if (of_side := [row for row in self._rows if row["side"] == side and row["seed"] == seed])
        )

    def ratios(self, side: str, rivals: Sequence[str]) -> list[float]:
        """Returns a side's ratio to the rival that is best elsewhere: one of each round, or of each search.

        If there are several searches, the ratio is the mean of the rounds of a search, and the rival is best
        in those of the others. If there is one, it is best in the other rounds. Not all sides need be in all
        rounds: a tuner may have searched after the first ones.
        """
        allowed = [each for each in rivals if self.keeps(each)] or [GUIDE]
        own, others = self._logarithms(side), {each: self._logarithms(each) for each in allowed}
        ratios = []
        for unit in sorted({self._unit(key) for key in own}):
            keys = [key for key in sorted(own) if self._unit(key) == unit]
            here = [each for each in allowed if any(key in others[each] for key in keys)]
            if here:
                best = others[max(here, key=lambda each: self._mean_without(others[each], unit))]
                ratios.append(math.exp(statistics.fmean(own[key] - best[key] for key in keys if key in best)))
        return ratios

    def _keeps(self, rows: Sequence[Row], of_guide: Sequence[Row]) -> bool:
        limits = dict.fromkeys(FIELDS[1:3], MAX_SPACE_AMPLIFICATION) | {FIELDS[3]: self._memory_bytes}
        return all(
            _mean(rows, field) <= max(limit, YIELDED_FACTOR * _mean(of_guide, field))
            for field, limit in limits.items()
        )

    def _unit(self, key: RoundKey) -> int:
        """Returns the search of a round if there are several searches, otherwise its number."""
        seed, number = key
        return seed if len(self.searches) > 1 else number

    def _logarithms(self, side: str) -> dict[RoundKey, float]:
        """Returns the logarithm of a side's throughput by round."""
        return {
            (row["seed"], row["round"]): math.log(row[FIELDS[0]]) for row in self._rows if row["side"] == side
        }

    def _mean_without(self, of_rounds: Mapping[RoundKey, float], unit: int) -> float:
        """Returns the mean over the rounds of other units; minus infinity if there is no other."""
        values = [value for key, value in of_rounds.items() if self._unit(key) != unit]
        return statistics.fmean(values) if values else -math.inf


def _mean(rows: Sequence[Row], field: str) -> float:
    return math.fsum(row[field] for row in rows) / len(rows)


def _claims(campaign: Campaign, workload: str, engine: str) -> Iterator[Claim]:
    """Yields the claims of a workload, on all tuners that have searched it."""
    tuners = list(dict.fromkeys(row["tuner"] for row in campaign.winners if row["workload"] == workload))
    shared: Mapping[str, Any] = {"engine": engine, "device": DEVICE}
    spec = campaign.spec(workload, tuners[0], 1)
    rows = [row for row in campaign.rounds if row["workload"] == workload]
    longest_s = max(row["window_s"] for row in rows)
    rows = [row for row in rows if row["window_s"] == longest_s]
    rounds = Rounds(rows, tuners, spec.memory_bytes)
    for tuner in tuners:
        others = [each for each in tuners if each != tuner]
        for name, rivals in (("guide", [GUIDE]), ("hand", rounds.hand), ("rivals", [*rounds.hand, *others])):
            ratio = ratio_interval(rounds.ratios(tuner, rivals))
            claim = reported(
                f"{workload}_{tuner}_over_{name}", SOURCE, "ratio of steady throughput", ratio, **shared
            )
            is_target = tuner == "auto" and name != "guide"
            yield decided(claim, low=0.97) if is_target else claim
        kept = exactly(float(rounds.keeps(tuner)))
        claim = reported(f"{workload}_{tuner}_keeps_constraints", SOURCE, "1 if it does", kept, **shared)
        yield decided(claim, low=1) if tuner == "auto" else claim
    yield from _times(campaign, workload, tuners, shared)


def _times(
    campaign: Campaign, workload: str, tuners: Sequence[str], shared: Mapping[str, Any]
) -> Iterator[Claim]:
    """Yields the seconds of measuring until each tuner is near the best of all searches of a workload."""
    rows = [row for row in campaign.trials if row["workload"] == workload and row["tuner"] in tuners]
    known = [row["figure"] for row in rows if not math.isnan(row["figure"])]
    for tuner in tuners:
        first: dict[int, float] = {}
        for row in rows:
            if row["tuner"] == tuner and row["figure"] >= NEAR * max(known):
                first.setdefault(row["seed"], row["spent_s"])
        of = {row["seed"] for row in rows if row["tuner"] == tuner}
        times = [first.get(seed, math.inf) for seed in of]
        if all(map(math.isfinite, times)):
            yield reported(
                f"{workload}_{tuner}_seconds_to_{NEAR:.0%}",
                SOURCE,
                "s of measuring",
                median_spread(times),
                **shared,
            )


def _together(claims: Sequence[Claim], workloads: int, engine: str) -> Iterator[Claim]:
    """Yields the claims on all workloads together."""
    shared: Mapping[str, Any] = {"engine": engine, "device": DEVICE}
    over_hand = [each.measured.value for each in claims if each.name.endswith("_auto_over_hand")]
    share = sum(each >= CLEAR for each in over_hand) / workloads
    claim = reported(
        f"auto_over_hand_at_least_{CLEAR}", SOURCE, "share of workloads", exactly(share, workloads), **shared
    )
    yield decided(claim, low=1 / 3)
    times = [each.measured.value for each in claims if each.name.endswith(f"_auto_seconds_to_{NEAR:.0%}")]
    times += [math.inf] * (workloads - len(times))
    middle = exactly(statistics.median(times), workloads)
    if math.isfinite(middle.value):
        claim = reported(
            f"auto_seconds_to_{NEAR:.0%}", SOURCE, "s of measuring, median of workloads", middle, **shared
        )
        yield decided(claim, high=MAX_SECONDS)


def campaign(settings: Settings) -> list[Claim]:
    """Searches and measures, workload by workload."""
    if settings.quick:
        settings = replace(settings, extra=settings.extra | {"tuners": "auto", "trials": 8, "rounds": 1})
    check_flags(settings, FREE)
    tuners = str(settings.extra["tuners"]).split(",")
    workloads = str(settings.extra["workloads"]).split(",")
    with embedded_engine() as engine:
        kept = Campaign(settings, engine)
        for workload, seed in itertools.product(workloads, range(1, 1 + int(settings.extra["seeds"]))):
            for tuner in tuners:
                kept.search(workload, tuner, seed)
            for number in range(int(settings.extra["rounds"])):
                kept.measure_round(workload, tuners, seed, number)
        claims = [claim for workload in workloads for claim in _claims(kept, workload, engine.version)]
        return claims + list(_together(claims, len(workloads), engine.version))


if __name__ == "__main__":
    main(
        "rocktune.campaign",
        campaign,
        scale=256,
        extra={
            "workloads": "dremel-write-heavy",
            "tuners": ",".join(TUNERS),
            "seeds": 1,
            "trials": 60,
            "rounds": 6,
            "window": 480,
        },
    )

"""The tuners on set-ups that no model was developed on: random runs, importance of knobs, and searches.

For each set-up it measures random configurations of the paper's space and counts the knobs that matter. Where
they are too few, tuners cannot be told apart, and the set-up is left. Otherwise it measures more
configurations with small blocks, finds clusters of knobs in a hundred runs, and fits a model to the other
runs. It measures where the model promises most and fits it again, until the store keeps 90% of the promise.
All tuners search the last model. An interrupted run continues with the same `--out`: tables and searches that
are there are not repeated. Processes with other `--setups` or `--tuners` can share it once the tables are
there; a last run of all writes all claims.

A difference of 10% matters. On alabed-text the logarithm of multi-task's result after 30 steps varied by 0.13
between searches and that of single-task by 0.26. So 20 seeds tell forms of multi-task apart at 9%, and
single-task from multi-task at 15%. The Bayesian tuners need BoTorch (pip install rocktune[bo]); without it
they are left out and named.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.alabed.made_up import made_up_runs
from benchmarks.alabed.modelled import STEPS, THROUGHPUT, Modelled, Searched, Searches, search
from benchmarks.alabed.promising import KEPT, refined
from benchmarks.alabed.setups import SETUPS, Sampled, drawn_runs, near_runs
from benchmarks.alabed.space import judged, several_knobs_matter
from benchmarks.alabed.winners import claims_on_the_store, measured_winners
from benchmarks.common.claims import (
    Claim,
    Measured,
    Settings,
    decided,
    exactly,
    main,
    mean_interval,
    ratio_interval,
    reported,
)
from benchmarks.common.figures import Panel, lines, write_figure
from rocktune.analysis import clusters_of
from rocktune.errors import UserError
from rocktune.table import Table
from rocktune.trial import Status

HERE = Path(__file__).parent
TUNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "multitask": ("multitask-bo", {}),
    "multitask-positive": (str(HERE / "positive_icm.py"), {}),
    "multitask-measured": ("multitask-bo", {"tasks": "measured"}),
    "multitask-plain": ("multitask-bo", {"plain": True}),
    "clustered": ("clustered-bo", {}),
    "clustered-plain": ("clustered-bo", {"plain": True}),
    "clustered-found": ("clustered-bo", {}),
    "single": ("bo", {}),
    "sklearn-gp": (str(HERE / "sklearn_gp.py"), {}),
    "tpe": ("tpe", {}),
    "random": ("random", {}),
}
"""By name in the claims: the tuner and its settings. Clusters of `clustered-found` are found in data."""
CONTRASTS = (
    ("multitask", "multitask-positive", "ours: correlations of either sign"),
    ("multitask", "multitask-plain", "ours: logarithms and bent axes"),
    ("multitask", "single", "Alabed and Yoneki, figure 6"),
    ("clustered", "clustered-plain", "ours: clusters that add up, logarithms and bent axes"),
    ("clustered-found", "clustered", "Alabed and Yoneki, section 3.4: clusters from data"),
)
"""Tuners of which the first should find at least what the second finds."""
CONTRASTED_AFTER = (30, 100)
NEAR_THE_BEST = 0.9
CLUSTER_RUNS = 100
"""Runs in which clusters are found; the models that are searched do not see them."""
FIGURE_6 = "Alabed and Yoneki, figure 6"
Found = Mapping[str, Mapping[int, Mapping[int, float]]]
"""By tuner and seed: true throughput after numbers of steps."""


def held_out(settings: Settings) -> list[Claim]:
    """Compares tuners on held-out set-ups; `--setups`, `--tuners`, `--steps` and `--seeds` choose."""
    names = list(SETUPS)[:1] if settings.quick else str(settings.extra["setups"]).split(",")
    with tempfile.TemporaryDirectory() as scratch:
        out = settings.out or Path(scratch)
        claims, panels = list[Claim](), list[Panel]()
        for name in names:
            own, panel = _of_setup(name, out, settings)
            claims += own
            panels += [] if panel is None else [panel]
        write_figure(settings, "Held-out set-ups", panels)
    return claims


def _of_setup(name: str, out: Path, settings: Settings) -> tuple[list[Claim], Panel | None]:
    ledger = str(out / f"{name}-ledger.sqlite")
    drawn = drawn_runs(name, out, ledger, settings)
    judgement = [] if settings.quick else judged(drawn, settings.seed)
    if not several_knobs_matter(judgement):
        settings.say(f"{name}: too few knobs matter to tell tuners apart; no search")
        return _named(name, judgement, drawn), None
    runs = Sampled(drawn, near_runs(name, out, ledger, settings))
    # Five runs of a fifth of a second rank nothing, so a smoke run goes on with formulas.
    runs = made_up_runs(runs) if settings.quick else runs
    runs, kept = refined(name, runs, CLUSTER_RUNS, out, ledger, settings)
    modelled = Modelled(runs.merged(CLUSTER_RUNS))
    done, left_out = _searched(name, runs, modelled, Searches(out / f"{name}-searches.csv"), settings)
    found = {tuner: {seed: each.after for seed, each in by.items()} for tuner, by in done.items()}
    winners = {tuner: {seed: each.winner for seed, each in by.items()} for tuner, by in done.items()}
    default = modelled.space.default()
    expected = modelled.truth(default)
    gave = measured_winners(name, winners, out, ledger, settings)
    judgement = judgement or judged(runs.drawn, settings.seed)
    claims = [*judgement, _error(modelled), *_kept(kept), _left_out(left_out)]
    claims += [*_shares(found, expected), *_contrasts(found), *_paper(found, expected)]
    claims += claims_on_the_store(winners, gave, default, CONTRASTS)
    return _named(name, claims, runs.drawn), _panel(name, found)


def _named(name: str, claims: list[Claim], drawn: Table) -> list[Claim]:
    """Returns claims with the name and the conditions of the set-up."""
    conditions = drawn.conditions
    device = conditions.device.name
    return [
        replace(each, name=f"{name}_{each.name}", engine=conditions.engine, device=device) for each in claims
    ]


def _searched(
    setup: str, runs: Sampled, modelled: Modelled, searches: Searches, settings: Settings
) -> tuple[dict[str, dict[int, Searched]], list[str]]:
    """Returns the searches of each tuner by seed, and a line for each tuner that cannot run here."""
    names = ["random", "tpe"] if settings.quick else str(settings.extra["tuners"]).split(",")
    seeds, steps = (2, 5) if settings.quick else (settings.extra["seeds"], settings.extra["steps"])
    found, left_out = dict[str, dict[int, Searched]](), list[str]()
    for name in names:
        if name not in TUNERS:
            raise UserError(f"tuners: unknown tuner '{name}'; use {', '.join(TUNERS)}")
        tuner, given = TUNERS[name]
        if name == "clustered-found":
            given = {"clusters": clusters_in(runs.drawn)}
        for seed in range(settings.seed, settings.seed + seeds):
            key = {"setup": setup, "tuner": name, "seed": seed, "steps": steps, "table": modelled.digest}
            known = searches.known(key)
            try:
                if known is None:
                    known = searches.add(key, search(modelled, tuner, given, steps, seed))
                    settings.say(
                        f"{setup}, {name}, seed {seed}: {known.after[max(known.after)]:.6g} operations/s"
                    )
            except UserError as missing:
                left_out.append(f"{name}: {missing}")
                settings.say(left_out[-1])
                break
            found.setdefault(name, {})[seed] = known
    return found, left_out


def clusters_in(drawn: Table) -> list[dict[str, Any]]:
    """Returns the clusters found in the first runs drawn from the whole space."""
    swept = [row for row in drawn.rows if row.replicate == 0][:CLUSTER_RUNS]
    sound = [(row.configuration, row.figures) for row in swept if row.status is Status.OK]
    clusters: list[dict[str, Any]] = clusters_of(sound, THROUGHPUT)["clusters"]
    return clusters


def _claim(name: str, source: str, unit: str, measured: Measured, paper: str | None = None) -> Claim:
    return reported(name, source, unit, measured, paper, engine="", device="")


def _error(modelled: Modelled) -> Claim:
    unit = "standard deviation of predicted over measured throughput (logarithm), cross-validated"
    measured = exactly(modelled.model.errors[THROUGHPUT], len(modelled.table.rows))
    return _claim("error_of_the_searched_model", "the model that is searched", unit, measured)


def _kept(kept: Sequence[Measured]) -> list[Claim]:
    """Returns what the store gave of the throughput that models promised, by round; the last is a target."""
    unit = "measured over promised throughput where the model promises most"
    claims = [
        _claim(f"kept_of_the_promised_in_round_{number}", "the model that is searched", unit, each)
        for number, each in enumerate(kept, 1)
    ]
    return [*claims[:-1], *(decided(each, low=KEPT) for each in claims[-1:])]


def _left_out(left_out: Sequence[str]) -> Claim:
    """Returns how many tuners could not run, and why."""
    claim = _claim("tuners_left_out", "tuners of this comparison", "tuners", exactly(len(left_out)))
    return replace(claim, why="; ".join(left_out))


def _shares(found: Found, default: float) -> list[Claim]:
    """Returns each tuner's share of the best known throughput, the mean of its searches."""
    best = _best(found, default)
    unit = "share of the best known throughput"
    claims = [_claim("default_share", FIGURE_6, unit, exactly(default / best))]
    for tuner, searched in found.items():
        for step in next(iter(searched.values())):
            measured = mean_interval([each[step] / best for each in searched.values()])
            claims.append(_claim(f"{tuner}_share_after_{step}_steps", FIGURE_6, unit, measured))
    return claims


def _best(found: Found, default: float) -> float:
    return max(default, *(max(each.values()) for searched in found.values() for each in searched.values()))


def _ratio(
    name: str, source: str, found: Found, one: tuple[str, int], other: tuple[str, int]
) -> Claim | None:
    """Returns a tuner's throughput over another's, paired by seed, each after some steps; None if missing."""
    first, second = found.get(one[0], {}), found.get(other[0], {})
    pairs = [
        first[seed][one[1]] / second[seed][other[1]]
        for seed in first
        if seed in second and one[1] in first[seed] and other[1] in second[seed]
    ]
    return (
        _claim(name, source, "ratio of throughput, paired by seed", ratio_interval(pairs)) if pairs else None
    )


def _contrasts(found: Found) -> list[Claim]:
    claims = []
    for one, other, source in CONTRASTS:
        for steps in CONTRASTED_AFTER:
            name = f"{one}_over_{other}_after_{steps}"
            claim = _ratio(name, source, found, (one, steps), (other, steps))
            claims += [] if claim is None else [decided(claim, low=1)]
    return claims


def _paper(found: Found, default: float) -> list[Claim]:
    """Returns the comparisons of the paper's figures 6 and 7."""
    claims = []
    early = _ratio(
        "clustered_after_10_over_single_after_60",
        "Alabed and Yoneki, figure 7",
        found,
        ("clustered", 10),
        ("single", 60),
    )
    if early is not None:
        claims.append(decided(replace(early, paper="10 steps against 60"), low=1))
    last = {tuner: [each[max(each)] for each in searched.values()] for tuner, searched in found.items()}
    if "multitask" not in last:
        return claims
    over = ratio_interval([each / default for each in last["multitask"]])
    claims.append(
        _claim("multitask_over_default", FIGURE_6, "ratio of throughput", over, "1.38 +- 0.06 in 100 steps")
    )
    # The paper's rivals, not other forms of its own tuner.
    rivals = [tuner for tuner in last if not tuner.startswith(("multitask", "clustered"))]
    if rivals:
        leader = max(rivals, key=lambda tuner: float(np.mean(np.log(last[tuner]))))
        steps = max(next(iter(found["multitask"].values())))
        claim = _ratio(
            "multitask_over_the_best_other", FIGURE_6, found, ("multitask", steps), (leader, steps)
        )
        assert claim is not None
        claim.unit += f"; the best of the others is {leader}"
        claims.append(decided(claim, low=NEAR_THE_BEST))
    return claims


def _panel(name: str, found: Found) -> Panel:
    traces = []
    for tuner, searched in found.items():
        steps = [each for each in STEPS if each in next(iter(searched.values()))]
        medians = [float(np.median([each[step] for each in searched.values()])) for step in steps]
        traces.append(lines(tuner, steps, medians))
    return Panel(f"{name}: median of the searches", "steps", "throughput, operations/s", traces)


if __name__ == "__main__":
    main(
        "alabed.held_out",
        held_out,
        scale=256,
        extra={
            "setups": ",".join(SETUPS),
            "tuners": ",".join(TUNERS),
            "samples": 500,
            "near": 250,
            "rounds": 10,
            "steps": 100,
            "seeds": 20,
            "fresh": 3,
        },
    )

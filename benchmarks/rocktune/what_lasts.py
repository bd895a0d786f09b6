"""Compares what eight configurations give in 120 s, charged and bare, with what they give in steady state.

With `--out` an interrupted measurement continues where its runs.csv ends.
"""

import itertools
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.common.claims import (
    Claim,
    Measured,
    Settings,
    decided,
    exactly,
    main,
    ratio_interval,
    reported,
)
from benchmarks.common.measuring import PRELOADED, WRITE_HEAVY, embedded_engine, experiment_of
from benchmarks.common.tables import Row, read_rows, typed, write_csv
from rocktune.engine import EmbeddedEngine, RunFailed
from rocktune.engine.steadiness import LIMIT_FULL_SIZE_S, STEP_FULL_SIZE_S, Steadiness, Step
from rocktune.trial import Configuration, Experiment, OptionMaps

DEVICE = "ssd-100mb"
SETTINGS = (WRITE_HEAVY, PRELOADED, "ycsb-a")
SHORT_FULL_SIZE_S = 120.0
SOURCE = "figures that last"
DEFAULTS = "defaults"
CONFIGURATIONS: dict[str, dict[str, str]] = tomllib.loads(
    (Path(__file__).parent / "eight_configurations.toml").read_text()
)

Key = tuple[str, str, int]
"""Setting, configuration, replicate."""
KEY = ("setting", "configuration", "replicate")
"""The columns of a key."""


def options_of(name: str, experiment: Experiment) -> OptionMaps:
    """Returns the full-size options of one of the configurations; none for RocksDB's bare defaults."""
    if name == DEFAULTS:
        return {}
    options = experiment.space.options(experiment.space.default())
    return {**options, "cf": {**options["cf"], **CONFIGURATIONS[name]}}


class Runs:
    """The runs of all configurations; each is measured once and kept."""

    def __init__(self, settings: Settings, engine: EmbeddedEngine) -> None:
        self._settings = settings
        self._engine = engine
        self._path = None if settings.out is None else settings.out / "runs.csv"
        kinds = typed(
            float, setting=str, configuration=str, replicate=int, steady=int, steady_at_s=int, changes=str
        )
        self._rows: dict[Key, Row] = {
            (row["setting"], row["configuration"], row["replicate"]): row
            for row in read_rows(self._path, kinds)
        }

    def measure(self, key: Key) -> None:
        """Measures a run unless it is recorded."""
        if key in self._rows:
            return
        try:
            figures = self._short(key) | self._long(key)
        except RunFailed as failure:
            self._settings.say(f"{key}: {failure}")
            return
        self._rows[key] = dict(zip(KEY, key, strict=True)) | figures
        self._settings.say(f"{key}: {figures}")
        if self._path is not None:
            write_csv(self._path, self._rows.values())

    def mean(self, setting: str, configuration: str, figure: str) -> float:
        """Returns the geometric mean of a figure over the replicates; NaN without one."""
        found = self.figures(setting, configuration, figure)
        return math.exp(math.fsum(map(math.log, found)) / len(found)) if found else math.nan

    def figures(self, setting: str, configuration: str, figure: str) -> list[float]:
        """Returns a figure of each replicate."""
        keys = sorted(key for key in self._rows if key[:2] == (setting, configuration))
        return [self._rows[key][figure] for key in keys]

    def _experiment(self, key: Key, all_keys: bool) -> Experiment:
        setting, configuration, replicate = key
        plain = experiment_of(setting, DEVICE, self._settings.scale)
        workload = plain.workload.with_all_keys() if all_keys else plain.workload
        return Experiment(
            workload,
            plain.device,
            plain.scale,
            plain.space,
            options_of(configuration, plain),
            base_seed=replicate,
        )

    def _short(self, key: Key) -> dict[str, float]:
        """Returns the bare figure: 120 s on the store with which the workload begins."""
        experiment = self._experiment(key, all_keys=False)
        with closing(self._engine.open(experiment, Configuration({}), self._settings.seed + key[2])) as run:
            figures = run.advance(SHORT_FULL_SIZE_S / self._settings.scale).figures
        return {"bare_ops_s": figures["throughput_ops_s"]}

    def _long(self, key: Key) -> dict[str, Any]:
        """Returns the charged figure of the first 120 s, and that of steady state, from all keys on."""
        scale = self._settings.scale
        experiment = self._experiment(key, all_keys=True)
        steadiness = Steadiness()
        with closing(self._engine.open(experiment, Configuration({}), self._settings.seed + key[2])) as run:
            age_s = SHORT_FULL_SIZE_S / scale
            first = run.advance(age_s)
            owed = first.raw["debt"]["owed_bytes"] / first.raw["user_bytes_written"]
            limit_s = (240.0 if self._settings.quick else LIMIT_FULL_SIZE_S) / scale
            steady = False
            while not steady and age_s < limit_s:
                age_s += STEP_FULL_SIZE_S / scale
                steady = steadiness.add(Step.of(run.advance(age_s)))
        window = steadiness.steady or steadiness.latest
        assert window is not None
        return {
            "charged_ops_s": first.figures["sustained_throughput_ops_s"],
            "loaded_ops_s": first.figures["throughput_ops_s"],
            "steady_ops_s": window.throughput_ops_s,
            "steady": int(steady),
            "steady_at_s": round(age_s * scale),
            "modelled_amplification": owed,
            "measured_amplification": window.moved_bytes / window.user_bytes_written,
            "space_amplification": window.db_bytes / (first.raw["logical_bytes"] or math.nan),
            "changes": "" if steady else steadiness.describe(),
        }


def kendall(pairs: Sequence[tuple[float, float]]) -> float:
    """Returns Kendall's tau over pairs of (sign of one figure's difference, sign of the other's)."""
    products = [math.copysign(1, first) * math.copysign(1, second) for first, second in pairs]
    return math.fsum(products) / len(products) if products else math.nan


def _decided_pairs(runs: Runs, setting: str) -> Iterator[tuple[str, str]]:
    """Yields the pairs of configurations whose steady figures differ beyond the interval over replicates."""
    for first, second in itertools.combinations(CONFIGURATIONS, 2):
        steady = [runs.figures(setting, each, "steady_ops_s") for each in (first, second)]
        if min(map(len, steady)) < 2 or len(steady[0]) != len(steady[1]):
            continue
        ratio = ratio_interval([a / b for a, b in zip(*steady, strict=True)])
        if ratio.low > 1 or ratio.high < 1:
            yield first, second


def _claims(runs: Runs, setting: str, engine: str) -> Iterator[Claim]:
    """Yields the claims of a setting."""
    shared: Mapping[str, Any] = {"engine": engine, "device": DEVICE}
    pairs = list(_decided_pairs(runs, setting))
    best = max(runs.mean(setting, each, "steady_ops_s") for each in CONFIGURATIONS)
    for figure, is_target in (("charged_ops_s", True), ("bare_ops_s", False), ("loaded_ops_s", False)):
        differences = [
            tuple(
                runs.mean(setting, a, name) - runs.mean(setting, b, name) for name in (figure, "steady_ops_s")
            )
            for a, b in pairs
        ]
        tau = exactly(kendall([(each[0], each[1]) for each in differences]), len(pairs))
        name = f"{setting}_{figure.removesuffix('_ops_s')}_figure_tau"
        ranks = reported(name, SOURCE, "Kendall's tau over decided pairs", tau, **shared)
        yield decided(ranks, low=0.8) if is_target else ranks
        chosen = max(CONFIGURATIONS, key=lambda each: runs.mean(setting, each, figure))
        short = exactly(best / runs.mean(setting, chosen, "steady_ops_s") - 1)
        name = f"{setting}_{figure.removesuffix('_ops_s')}_choice_short_of_best"
        regret = reported(name, SOURCE, f"share of steady throughput; it chooses {chosen}", short, **shared)
        yield decided(regret, high=0.05) if is_target else regret
    ratios = [
        a / b
        for a, b in zip(
            *(runs.figures(setting, each, "steady_ops_s") for each in ("universal-8", "winner")), strict=True
        )
    ]
    if ratios:
        name = f"{setting}_universal_8_over_winner"
        yield reported(name, SOURCE, "ratio of steady throughput", ratio_interval(ratios), **shared)


def _model_claim(runs: Runs, engine: str) -> Claim:
    """Returns the claim on the model of amplification, over the steady runs, else over all."""
    found = [
        (modelled / measured, steady)
        for setting in SETTINGS
        for each in CONFIGURATIONS
        for modelled, measured, steady in zip(
            *(
                runs.figures(setting, each, name)
                for name in ("modelled_amplification", "measured_amplification", "steady")
            ),
            strict=True,
        )
    ]
    ratios = [ratio for ratio, steady in found if steady] or [ratio for ratio, _ in found]
    off = sorted(abs(math.log(ratio)) for ratio in ratios)
    tail = math.exp(off[int(0.9 * (len(off) - 1))]) - 1
    unit = "share by which the model is off at most in 90% of the steady runs"
    return reported(
        "modelled_amplification_error",
        SOURCE,
        unit,
        Measured(tail, 0.0, math.exp(off[-1]) - 1, len(off)),
        engine=engine,
        device=DEVICE,
    )


def what_lasts(settings: Settings) -> list[Claim]:
    """Measures all configurations on all settings until they are steady, replicate by replicate."""
    replicates = 2 if settings.quick else int(settings.extra["replicates"])
    chosen = SETTINGS[:1] if settings.quick else SETTINGS
    names = ("guide", "universal-8") if settings.quick else tuple(CONFIGURATIONS)
    with embedded_engine() as engine:
        runs = Runs(settings, engine)
        for replicate in range(replicates):
            for setting, name in itertools.product(chosen, names):
                runs.measure((setting, name, replicate))
        if settings.quick:
            return [_model_claim(runs, engine.version)]
        claims = [claim for setting in chosen for claim in _claims(runs, setting, engine.version)]
        return [*claims, _model_claim(runs, engine.version)]


if __name__ == "__main__":
    main("rocktune.what_lasts", what_lasts, scale=128, extra={"replicates": 3})

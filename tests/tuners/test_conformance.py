from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rocktune.space import load_space
from rocktune.testing.tuners import TunerConformance, drive, synthetic_problem
from rocktune.tuners import Problem, Tuner, tuner_named

# A small pool, population or swarm keeps the tests fast; nothing that they look at depends on its size.
SMALL = {"pool": 500}
FEW: dict[str, Any] = {"population": 4}
BOTH = ("throughput_ops_s", "read_latency_us_p99")
FULL = load_space("full", None, 1e7)


class TestRandom(TunerConformance):
    @pytest.fixture
    def tuner(self) -> Tuner:
        return tuner_named("random")


class TestTuningGuide(TunerConformance):
    @pytest.fixture
    def tuner(self) -> Tuner:
        return tuner_named("tuning-guide")


class TestAuto(TunerConformance):
    @pytest.fixture(params=[{}, {"drawn": 0, "at_once": 1}], ids=["default", "one by one"])
    def tuner(self, request: pytest.FixtureRequest) -> Tuner:
        return tuner_named("auto", request.param)


class TestAutoInFull(TunerConformance):
    def problem(self, scale: int = 64, **changes: Any) -> Problem:
        """See `TunerConformance.problem`."""
        return replace(super().problem(scale, **changes), space=FULL, baseline=FULL.default())

    @pytest.fixture
    def tuner(self) -> Tuner:
        return tuner_named("auto")


class TestHand(TunerConformance):
    @pytest.fixture
    def tuner(self) -> Tuner:
        return tuner_named("hand")


class TestDremel(TunerConformance):
    @pytest.fixture(
        params=[
            {},
            {"sampling": "random"},
            {"buckets": 3, "features": ["compaction_frequency", "write_buffer_full_frequency"]},
            {"time_points_s": "auto", "rounds": 1},
            {"heuristic_feature": "block_cache_hit_rate", "printed_compaction_frequency": True},
        ],
        ids=["default", "random", "two features", "auto", "cache"],
    )
    def tuner(self, request: pytest.FixtureRequest) -> Tuner:
        return tuner_named("dremel", SMALL | request.param)


class TestDremelInFull(TunerConformance):
    def problem(self, scale: int = 64, **changes: Any) -> Problem:
        """See `TunerConformance.problem`."""
        return replace(super().problem(scale, **changes), space=FULL, baseline=FULL.default())

    @pytest.fixture
    def tuner(self) -> Tuner:
        return tuner_named("dremel", SMALL)


class TestGeneticAlgorithm(TunerConformance):
    @pytest.fixture
    def tuner(self) -> Tuner:
        return tuner_named("ga", FEW)


class TestNsga2(TunerConformance):
    @pytest.fixture
    def tuner(self) -> Tuner:
        return tuner_named("nsga2", FEW)


class TestEpsilonConstraint(TunerConformance):
    constraints = ("read_latency_us_p99<=700",)

    @pytest.fixture
    def tuner(self) -> Tuner:
        return tuner_named("epsilon-constraint", FEW)


class TestWeightedSum(TunerConformance):
    objective = BOTH

    @pytest.fixture
    def tuner(self) -> Tuner:
        return tuner_named("weighted-sum", FEW)


class TestSmpso(TunerConformance):
    @pytest.fixture
    def tuner(self) -> Tuner:
        return tuner_named("smpso", {"swarm_size": 4})


class TestTpe(TunerConformance):
    @pytest.fixture
    def tuner(self) -> Tuner:
        return tuner_named("tpe")


class TestQuasiMonteCarlo(TunerConformance):
    @pytest.fixture
    def tuner(self) -> Tuner:
        return tuner_named("optuna:QMCSampler")


class TestCmaEs(TunerConformance):
    @pytest.fixture
    def tuner(self) -> Tuner:
        return tuner_named("optuna:CmaEsSampler")


SOME = ["random", "tpe", "ga", "nsga2", "weighted-sum", "smpso", "dremel", "optuna:CmaEsSampler"]


@pytest.mark.parametrize("name", SOME)
def test_the_configurations_of_a_large_space_hold_active_knobs_only(name: str) -> None:
    settings = {"dremel": SMALL, "smpso": {"swarm_size": 4}}.get(name, FEW if name in ("ga", "nsga2") else {})
    both = BOTH if name == "weighted-sum" else "throughput_ops_s"
    problem = replace(
        synthetic_problem(budget_s=1500.0, scale=1, objective=both), space=FULL, baseline=FULL.default()
    )
    search = tuner_named(name, settings).search(problem, np.random.default_rng(5))
    configurations = drive(search).configurations
    assert len(configurations) >= 10
    for configuration in configurations:
        FULL.validate(configuration)
    assert len({each["compaction_style"] for each in configurations}) == 2

import pytest

from rocktune.testing.tuners import TunerConformance
from rocktune.tuners import Tuner, tuner_named

# A small pool keeps the tests fast; nothing that they look at depends on its size.
SMALL = {"pool": 500}


class TestRandom(TunerConformance):
    @pytest.fixture
    def tuner(self) -> Tuner:
        return tuner_named("random")


class TestTuningGuide(TunerConformance):
    @pytest.fixture
    def tuner(self) -> Tuner:
        return tuner_named("tuning-guide")


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

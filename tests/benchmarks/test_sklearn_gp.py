import pytest
from benchmarks.alabed.sklearn_gp import SklearnGp

from rocktune.testing.tuners import TunerConformance
from rocktune.tuners import Problem, Tuner


class TestSklearnGp(TunerConformance):
    @pytest.fixture
    def tuner(self) -> Tuner:
        return SklearnGp()

    def problem(self, scale: int = 64, **changes: object) -> Problem:
        return super().problem(scale, **{"budget_s": 4 * 120 / scale} | changes)

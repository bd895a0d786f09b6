import importlib.util

import pytest

from rocktune.errors import UserError
from rocktune.testing.tuners import synthetic_problem
from rocktune.tuners import tuner_named


@pytest.mark.parametrize("name", ["bo", "multitask-bo", "clustered-bo", "additive-bo"])
def test_one_line_says_how_to_install_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(
        UserError, match=rf"tuner '{name}': needs BoTorch.*pip install 'rocktune\[bo\]'"
    ) as told:
        tuner_named(name).min_budget_s(synthetic_problem())
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("objective", ["balance", "throughput_ops_s,read_latency_us_p99"])
def test_several_objectives_are_refused_in_one_line(objective: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: object())
    with pytest.raises(UserError, match="tuner 'bo': improves one objective, not"):
        tuner_named("bo").min_budget_s(synthetic_problem(objective=objective))

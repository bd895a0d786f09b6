import importlib.util
from dataclasses import replace

import numpy as np
import optuna
import pytest
from tests.tuners.test_genetic import opposed, problem

from rocktune.errors import UserError
from rocktune.space import load_space
from rocktune.testing.tuners import drive
from rocktune.tuners import tuner_named
from rocktune.tuners.optuna_sampler import sampler_names


def test_tpe_finds_what_is_good() -> None:
    given = problem(80, ("throughput_ops_s",))
    results = drive(tuner_named("tpe").search(given, np.random.default_rng(1)), opposed).results
    best = max(result.figure("throughput_ops_s") for batch in results for result in batch)
    assert best == pytest.approx(1000 * 8 * 4, rel=0.01)


def test_constraints_are_told() -> None:
    given = problem(80, ("throughput_ops_s",), ("read_latency_us_p99<=600",))
    results = drive(tuner_named("tpe").search(given, np.random.default_rng(1)), opposed).results
    late = [result.figure("read_latency_us_p99") for batch in results[-30:] for result in batch]
    assert sum(latency <= 600 for latency in late) > len(late) / 2


@pytest.mark.parametrize("name", sampler_names())
def test_every_sampler_searches_or_says_what_it_lacks(name: str) -> None:
    given = problem(12)
    tuner = tuner_named(f"optuna:{name}")
    library = {"CmaEsSampler": "cmaes", "GPSampler": "torch"}.get(name)
    if library is not None and importlib.util.find_spec(library) is None:
        with pytest.raises(UserError, match=f"needs {library}, which is not installed"):
            tuner.min_budget_s(given)
        return
    transcript = drive(tuner.search(given, np.random.default_rng(1)), opposed)
    assert len(transcript.configurations) == 12


def test_a_settings_typo_is_one_line_before_anything_runs() -> None:
    with pytest.raises(UserError, match=r"Optuna refuses its settings: .*n_startup"):
        tuner_named("tpe", {"sampler": {"n_startup": 3}}).min_budget_s(problem(12))
    with pytest.raises(UserError, match="did you mean 'CmaEsSampler'"):
        tuner_named("optuna:CmaSampler")


def test_a_space_that_is_used_up_ends_the_search() -> None:
    given = problem(5000)
    space = load_space("jia-chen", None, 1e8)
    assert len(space.knobs) == 6
    transcript = drive(tuner_named("optuna:RandomSampler").search(given, np.random.default_rng(1)), opposed)
    assert 500 < len(transcript.configurations) <= 2160


def test_optuna_says_nothing_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    drive(tuner_named("tpe").search(problem(12), np.random.default_rng(1)), opposed)
    assert capsys.readouterr() == ("", "")
    assert optuna.logging.get_verbosity() == optuna.logging.WARNING


@pytest.mark.parametrize("name", ["CmaEsSampler", pytest.param("GPSampler", marks=pytest.mark.bo)])
def test_samplers_that_know_no_conditions_draw_conditional_knobs_at_random(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    full = load_space("full", None, 1e7)
    given = replace(problem(30, ("throughput_ops_s",)), space=full, baseline=full.default())
    search = tuner_named(f"optuna:{name}").search(given, np.random.default_rng(1))
    found = drive(search).configurations
    assert len(found) == 30
    for knob in ("max_bytes_for_level_multiplier", "universal_size_ratio", "compression"):
        # The sampler may soon stay with a style in which a knob is inactive.
        assert len({each[knob] for each in found if knob in each}) > 1
    assert capsys.readouterr() == ("", "")

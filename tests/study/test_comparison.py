"""Comparisons on a made-up table: paired seeds, resumable, the same results again."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from rocktune import api
from rocktune.errors import UserError
from rocktune.ledger import open_ledger
from rocktune.study import make_request, resolve_sweep, run_sweep
from rocktune.study.specs.sweeping import HowToSweep
from rocktune.table import write_table
from rocktune.testing.dying import Died, DiesAfter
from rocktune.testing.synthetic_engine import SyntheticEngine
from rocktune.trial import Configuration

SMALL_SPACE = """
base = "jia-chen"
[fixed]
max_background_flushes = 1
max_background_compactions = 2
"""


def speed(configuration: Configuration) -> float:
    return 1000.0 * float(configuration["threads"]) + 50 * float(configuration["max_write_buffer_number"])


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("table")
    (directory / "small.toml").write_text(SMALL_SPACE)
    request = make_request({"workload": "zipfian", "space": str(directory / "small.toml"), "scale": "1/64"})
    engine = SyntheticEngine(speed)
    engine.version = "RocksDB 7.8.3, assertions on"
    with open_ledger(str(directory / "ledger.sqlite")) as ledger:
        swept = run_sweep(resolve_sweep(request, "swept", HowToSweep()), engine, ledger)
    write_table(directory / "made-up.csv", swept)
    return directory / "made-up.csv"


@pytest.fixture
def given(table: Path, tmp_path: Path) -> dict[str, Any]:
    return {
        "tuners": ["random", "ga(population=4)", "tpe"],
        "settings": [str(table)],
        "seeds": 3,
        "budget": "40s",
        "study": "c",
        "ledger": str(tmp_path / "l.sqlite"),
        "out": tmp_path / "out",
    }


def without_paths(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "report"}


def test_a_comparison_pairs_seeds_and_can_be_looked_at(given: dict[str, Any], tmp_path: Path) -> None:
    estimate = api.estimate_comparison(**{key: value for key, value in given.items() if key != "out"})
    assert (estimate["studies"], estimate["budget_s"], estimate["total_s"]) == (9, 40.0, 0.0)
    document = api.compare(**given)
    assert set(document["tuners"]) == set(given["tuners"])
    assert document["friedman"]["blocks"] == 3
    assert {(run["tuner"], run["seed"]) for run in document["runs"]} == {
        (tuner, seed) for tuner in given["tuners"] for seed in (1, 2, 3)
    }
    assert all(0 < run["search_s"] <= 40 for run in document["runs"])
    assert all(run["verified"] >= 1 for run in document["runs"])
    assert (tmp_path / "out" / "report.html").stat().st_size > 10_000
    listed = api.studies(ledger=given["ledger"])
    assert [each["tuner"] for each in listed if each["study"] == "c"] == ["comparison"]
    assert api.show("c", ledger=given["ledger"])["state"] == "finished"
    assert api.report("c", ledger=given["ledger"]) == tmp_path / "out" / "report.html"
    with pytest.raises(UserError, match="study 'c': is a comparison and has no runs of its own"):
        api.write_recorded(["c"], "t.csv", ledger=given["ledger"])
    with pytest.raises(UserError, match="study 'c': a comparison has no configuration"):
        api.export("c", "cpp", ledger=given["ledger"])
    with pytest.raises(UserError, match="study 'c': a comparison has no winner"):
        api.verify("c", "1/4", ledger=given["ledger"])


def test_a_comparison_that_died_goes_on(given: dict[str, Any], tmp_path: Path) -> None:
    whole = api.compare(**given | {"ledger": str(tmp_path / "whole.sqlite")})
    with pytest.raises(Died):
        api.compare(observer=DiesAfter(100), **given)
    for _ in range(2):
        resumed = api.resume("c", ledger=given["ledger"])
        assert isinstance(resumed, dict)
        assert without_paths(resumed) == without_paths(whole)


def test_fronts_are_compared_by_their_hypervolume(given: dict[str, Any]) -> None:
    objective = ["throughput_ops_s", "read_latency_us_p99"]
    document = api.compare(**given | {"tuners": ["nsga2(population=4)", "random"], "objective": objective})
    assert all(0 <= run["verified"] <= 1 for run in document["runs"])
    assert all(0 < run["search_best"] <= 1 for run in document["runs"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tuners": []}, "tuners: missing"),
        ({"tuners": ["random", "random"]}, "tuners: one is named twice"),
        ({"tuners": ["rnadom"]}, "unknown tuner 'rnadom': did you mean 'random'"),
        ({"tuners": ["ga(popluation=4)"]}, "unknown field 'popluation': did you mean 'population'"),
        ({"settings": ["zipfain"]}, "unknown workload 'zipfain': did you mean 'zipfian'"),
        ({"settings": ["nowhere.csv"]}, "nowhere.csv: cannot be read"),
        ({"seeds": 0}, "seeds: 0 must be at least 1"),
        ({"seeds": 1_000_000}, "seeds: they make 3,000,000 studies; give fewer, for at most 10,000"),
        ({"budget": "1s"}, "budget: 1.0 s is too small for tuner 'ga'"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_runs(
    given: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        api.compare(**given | change)
    assert not Path(given["ledger"]).exists()


def test_the_first_seed_may_be_0_and_long_names_stay_apart(given: dict[str, Any]) -> None:
    long = given | {"study": "c" * 100, "seed": 0, "tuners": ["random", "ga(population=4)"]}
    studies = [each.study for each in api.prepare_comparison(**_asked(long)).spec.studies]
    assert sorted({study.seed for study in studies}) == [0, 1, 2]
    assert len({study.name for study in studies}) == len(studies) == 6


def test_settings_of_one_name_are_refused(given: dict[str, Any], table: Path, tmp_path: Path) -> None:
    other = shutil.copy(table, tmp_path / table.name)
    with pytest.raises(UserError, match="would both be called 'made-up' in the report; rename one"):
        api.prepare_comparison(**_asked(given | {"settings": [str(table), str(other)]}))


def _asked(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name != "out"}


def test_a_settings_file_may_say_how_results_are_verified(
    given: dict[str, Any], table: Path, tmp_path: Path
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f'engine = "recorded"\ntable = "{table}"\n[verification]\nproof_pairs = 7\n')
    api.compare(**given | {"settings": [str(file)], "tuners": ["random"], "seeds": 1})
    (study,) = [each["study"] for each in api.studies(ledger=given["ledger"]) if each["tuner"] == "random"]
    verification = api.show(study, ledger=given["ledger"])["spec"]["verification"]
    assert (verification["pairs"], verification["ablation_pairs"]) == (7, 0)
    file.write_text(f'engine = "recorded"\ntable = "{table}"\nverification = 7\n')
    with pytest.raises(UserError, match=r"mine.toml: verification: "):
        api.compare(**given | {"settings": [str(file)], "tuners": ["random"], "seeds": 1, "study": "d"})

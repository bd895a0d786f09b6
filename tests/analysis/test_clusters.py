import math
import tomllib
from pathlib import Path

import numpy as np
import pytest
from tests.analysis.test_importance import table_of

from rocktune import api
from rocktune.analysis import clusters_of
from rocktune.errors import UserError
from rocktune.space import Configuration
from rocktune.table import Table, write_table
from rocktune.trial import Value
from rocktune.tuners import tuner_named

KNOBS = ("a1", "a2", "b1", "b2", "idle")


def runs(count: int, seed: int = 0) -> list[tuple[Configuration, dict[str, float]]]:
    """a1 and a2 drive `stalls`, b1 and b2 drive `misses`; both lower `speed`; `idle` drives `noise` alone."""
    rng = np.random.default_rng(seed)
    made: list[tuple[Configuration, dict[str, float]]] = []
    for _ in range(count):
        values = dict(zip(KNOBS, rng.uniform(size=len(KNOBS)).tolist(), strict=True))
        stalls = values["a1"] + values["a2"] + rng.normal(0, 0.05)
        misses = values["b1"] + values["b2"] + rng.normal(0, 0.05)
        figures = {
            "speed": 10 - 2 * stalls - misses + rng.normal(0, 0.05),
            "stalls": stalls,
            "stalls_again": 3 * stalls,
            "misses": misses,
            "noise": values["idle"] + rng.normal(0, 0.05),
            "constant": 7.0,
            "sometimes_undefined": float("nan") if not made else 1.0 + stalls,
        }
        made.append((Configuration(values), figures))
    return made


def test_knobs_that_move_the_same_metric_form_a_cluster() -> None:
    found = clusters_of(runs(200), "speed")
    clusters = [({*each["knobs"]}, each["tasks"]) for each in found["clusters"]]
    assert [{"a1", "a2"}, {"b1", "b2"}] == [knobs for knobs, tasks in clusters if "idle" not in knobs]
    by_knob = {knob: tasks for knobs, tasks in clusters for knob in knobs}
    assert by_knob["a1"][0] == "stalls"
    assert by_knob["b1"][0] == "misses"
    assert by_knob["idle"] == []
    assert found["runs"] == 200


def test_metrics_that_say_the_same_or_nothing_are_left_out() -> None:
    named = {each["metric"]: each for each in clusters_of(runs(200), "speed")["candidates"]}
    assert {"stalls", "misses"} <= {*named}
    assert not {"stalls_again", "constant", "sometimes_undefined", "speed"} & {*named}
    assert named["stalls"]["with_objective"] < -0.7
    assert named["stalls"]["with_knob"] > 0.5


def test_too_few_runs_and_an_objective_that_does_not_vary_are_refused() -> None:
    with pytest.raises(UserError, match="49 runs are too few; at least 50"):
        clusters_of(runs(49), "speed")
    with pytest.raises(UserError, match="'constant' does not vary"):
        clusters_of(runs(50), "constant")


def test_the_clusters_of_a_table_are_written_as_a_studys_file(tmp_path: Path) -> None:
    """Two knobs move the latency, which alone goes with the throughput; the third does nothing."""
    rng = np.random.default_rng(1)
    made: list[tuple[dict[str, Value], float]] = []
    for _ in range(60):
        threads, size, idle = (float(each) for each in rng.uniform(1, 10, size=3))
        made.append(({"threads": threads, "size": size, "idle": idle}, 100.0 / (threads + size)))
    table = table_of(made)
    for row in table.rows:
        assert isinstance(row.figures, dict)
        noise = math.exp(rng.normal(0, 0.4))
        row.figures["read_latency_us_p99"] = noise / row.figures["throughput_ops_s"]
    path, out = tmp_path / "table.csv", tmp_path / "study.toml"
    write_table(path, Table(table.conditions, table.rows))
    found = api.clusters(str(path), out=out)
    assert found["source"] == str(path)
    written = tomllib.loads(out.read_text())
    assert written == {"tuner": "clustered-bo", "tuner_settings": {"clusters": found["clusters"]}}
    assert tuner_named(written["tuner"], written["tuner_settings"])
    (together,) = [each for each in found["clusters"] if "threads" in each["knobs"]]
    assert together["tasks"] == ["read_latency_us_p99"]
    with pytest.raises(UserError, match="cannot be written"):
        api.clusters(str(path), out=tmp_path / "missing" / "study.toml")

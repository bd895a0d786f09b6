import math

import numpy as np
import pytest

from rocktune.objective import objective_named
from rocktune.space import load_space
from rocktune.testing.synthetic import synthetic_window
from rocktune.testing.tuners import synthetic_problem
from rocktune.trial import Measurement, Result, Status, Trial
from rocktune.tuners.bayesian.clusters import RECONSTRUCTED, Cluster, Part, parts_of
from rocktune.tuners.bayesian.observations import observed, standardized
from rocktune.tuners.unit_cube import UnitCube


def test_a_column_is_standardized_by_what_is_known_of_it() -> None:
    # Mean 4, standard deviation 2 (n - 1).
    assert standardized(np.array([2.0, math.nan, 4.0, 6.0])) == pytest.approx(
        [-1, math.nan, 0, 1], nan_ok=True
    )
    assert standardized(np.array([5.0, 5.0])).tolist() == [0.0, 0.0]
    assert standardized(np.array([7.0])).tolist() == [0.0]
    assert np.isnan(standardized(np.array([math.nan, math.nan]))).all()


def test_what_is_minimised_is_negated_and_failures_have_no_numbers() -> None:
    problem = synthetic_problem(constraints=["read_latency_us_p99<=100"])
    cube, configuration = UnitCube(problem.space), problem.space.default()
    trial = Trial(configuration, 2.0)
    sound = Result(trial, Status.OK, synthetic_window(0.0, 2.0, 1000.0, 150.0))
    tasks = ("write_amplification", "rocksdb.db.get.micros.p99", "rocksdb.block.cache.hit")
    found = observed([sound, Result(trial, Status.CRASHED)], problem, cube, tasks)
    # Per byte put: once to the log, once flushed, twice compacted. One get in two operations hits.
    logarithms = [math.log(1000), -math.log(4), -math.log(150), -math.log(0.5)]
    assert found.gains[0].tolist() == pytest.approx(logarithms)
    assert np.isnan(found.gains[1]).all()
    assert found.excesses[0].tolist() == pytest.approx([math.log(1.5)], rel=0.05)
    assert found.succeeded.tolist() == [True, False]
    assert found.feasible.tolist() == [False, False]
    assert found.points.shape == (2, cube.dimensions)
    smaller = observed([sound], synthetic_problem(objective="read_latency_us_p99"), cube, ())
    assert smaller.gains[0].tolist() == pytest.approx([-math.log(150)], abs=0.03)
    assert objective_named("throughput_ops_s").direction("throughput_ops_s") == 1


def test_a_figure_that_was_0_once_is_itself() -> None:
    problem = synthetic_problem()
    cube, trial = UnitCube(problem.space), Trial(problem.space.default(), 2.0)
    results = [
        Result(
            trial, Status.OK, Measurement({"figures": {"throughput_ops_s": 1.0, "write_amplification": w}})
        )
        for w in (0.0, 3.0)
    ]
    found = observed(results, problem, cube, ("write_amplification",))
    assert found.gains.tolist() == [[0.0, -0.0], [0.0, -3.0]]


def test_the_papers_clusters_share_out_its_space() -> None:
    space = load_space("alabed", None, 1e6)
    knobs = [knob.name for knob in space.knobs]
    tasks = ("throughput_ops_s", "write_amplification", "read_block_get_us_p99", "level0_to_level1_us_p99")
    parts = parts_of(knobs, tasks, RECONSTRUCTED)
    assert sorted(knob for part in parts for knob in part.knobs) == list(range(10))
    assert [part.tasks for part in parts] == [(0,), (0, 1, 2), (0, 1, 2), (0, 3)]
    assert max(len(part.knobs) for part in parts) == 4


def test_knobs_in_no_cluster_are_modelled_together_and_unknown_ones_passed_over() -> None:
    clusters = (Cluster(knobs=("b", "x"), tasks=("m",)), Cluster(knobs=("y",)))
    assert parts_of(["a", "b", "c"], ("o", "m"), clusters) == [Part((1,), (0, 1)), Part((0, 2), (0,))]

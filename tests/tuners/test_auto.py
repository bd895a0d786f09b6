from dataclasses import replace

import numpy as np
import pytest

from rocktune.gaussian_process import fitted_process, without_noise
from rocktune.lsm import ROUGH, DistinctKeys, TreeData, TreeShape, steady_amplification
from rocktune.objective import objective_named
from rocktune.space import load_space
from rocktune.testing.modelled import ModelledStore
from rocktune.testing.synthetic import synthetic_window
from rocktune.testing.tuners import drive, synthetic_problem
from rocktune.trial import Configuration, Result, Status, Trial
from rocktune.tuners import Problem, tuner_named
from rocktune.tuners.auto.features import Features
from rocktune.tuners.auto.neighbours import apart, neighbours
from rocktune.tuners.auto.search import Auto, AutoSettings, first_configurations
from rocktune.tuners.auto.surrogate import Model, expected_improvement, gains_of, ranked_by_mean, suggest
from rocktune.tuners.dremel.arms import pooled_configurations
from rocktune.tuners.dremel.settings import DremelSettings
from rocktune.tuners.hand import hand_set
from rocktune.tuners.unit_cube import UnitCube

FULL = load_space("full", None, 1e7)
DEFAULT = Trial(Configuration({"knob": 1}), 1.0)


def in_full(trials: int) -> Problem:
    problem = synthetic_problem(scale=64, budget_s=trials * 120 / 64)
    return replace(problem, space=FULL, baseline=FULL.default())


def result(throughput_ops_s: float, latency_us: float = 100.0) -> Result:
    return Result(DEFAULT, Status.OK, synthetic_window(0.0, 1.0, throughput_ops_s, latency_us))


def failed() -> Result:
    return Result(DEFAULT, Status.CRASHED, None, "made up")


def test_a_search_begins_with_what_people_set_by_hand() -> None:
    search = Auto(AutoSettings(drawn=2)).search(in_full(12), np.random.default_rng(1))
    asked = drive(search).configurations
    by_hand = [each.configuration for each in hand_set(FULL)]
    assert asked[: len(by_hand)] == by_hand
    assert len(asked) == 12
    # The next ones are of different arms.
    drawn = first_configurations(in_full(12), 40, np.random.default_rng(1))
    arms = pooled_configurations(
        in_full(12), DremelSettings(), np.random.default_rng(1), drawn[len(by_hand) :]
    )
    assert len(arms) == 40
    assert len({each.buckets for each in arms[:8]}) == 8
    assert len(set(asked)) == 12
    for each in asked:
        FULL.validate(each)


def test_it_finds_more_than_random_search() -> None:
    """On the modelled store, where universal compaction wins at few reads, of three searches each."""
    found = {}
    for name in ("auto", "random"):
        best = []
        for seed in range(3):
            search = tuner_named(name).search(in_full(40), np.random.default_rng(seed))
            transcript = drive(search, ModelledStore(FULL, read_share=0.3))
            results = [each for batch in transcript.results for each in batch]
            best.append(max(each.figure("throughput_ops_s") for each in results))
        found[name] = float(np.mean(best))
    assert found["auto"] > found["random"]


def test_a_search_without_gains_ends() -> None:
    def equal(trial: Trial) -> Result:
        return replace(result(1000.0), trial=trial)

    settings = AutoSettings(drawn=4, patience=8)
    transcript = drive(Auto(settings).search(in_full(60), np.random.default_rng(1)), equal)
    assert len(transcript.configurations) <= 12
    assert transcript.spent_s <= 12 * 120 / 64


@pytest.mark.parametrize(
    ("gain", "ends"),
    [(1.0, True), (1.009, True), (1.011, False)],
    ids=["none", "below what counts", "above it"],
)
def test_what_counts_as_a_gain(gain: float, ends: bool) -> None:
    tuner = Auto(AutoSettings(patience=2))
    results = [result(1000.0), result(900.0), result(1000.0 * gain)]
    assert tuner._has_settled(results, objective_named("throughput_ops_s")) is ends
    # With the first feasible result, the search goes on whatever its figure.
    bounded = objective_named("throughput_ops_s", ["read_latency_us_p99<=50"])
    assert not tuner._has_settled([result(1000.0), result(1.0), result(10.0, 40.0)], bounded)


def test_gains_by_hand() -> None:
    throughput = objective_named("throughput_ops_s")
    results = [result(1000.0), failed(), result(2000.0)]
    assert gains_of(throughput, results) == pytest.approx(np.log([1000, 1000, 2000]))
    latency = objective_named("read_latency_us_p99")
    two = [result(1.0, 10.0), result(1.0, 40.0)]
    assert gains_of(latency, two) == pytest.approx(-np.log([10, 40]), rel=0.1)
    bounded = objective_named("throughput_ops_s", ["read_latency_us_p99<=50"])
    # The fastest breaks the bound and counts as the slowest of the others.
    kept = [result(100.0, 40.0), result(900.0, 90.0), result(200.0, 40.0)]
    assert gains_of(bounded, kept) == pytest.approx(np.log([100, 100, 200]))
    assert gains_of(throughput, [failed(), failed()]).tolist() == [0.0, 0.0]


def test_expected_improvement_by_hand() -> None:
    # Without a doubt there is no improvement below the best, and a candidate's own above it.
    assert expected_improvement(np.array([1.0, 3.0]), np.zeros(2), 2.0) == pytest.approx([0.0, 1.0])
    # Mean 2, deviation 1, best 2: the density of the standard normal distribution at 0.
    even = expected_improvement(np.array([2.0]), np.array([1.0]), 2.0)
    assert even == pytest.approx([1 / np.sqrt(2 * np.pi)])


def test_a_process_without_noise_is_sure_of_what_it_saw_often() -> None:
    rng = np.random.default_rng(1)
    points = np.repeat([[-1.0], [1.0]], 50, axis=0)
    values = points[:, 0] + rng.normal(0.0, 0.3, len(points))
    _, of_runs = fitted_process(points, values).predict(np.array([[1.0]]), return_std=True)
    mean, of_mean = without_noise(fitted_process(points, values)).predict(np.array([[1.0]]), return_std=True)
    assert mean == pytest.approx(values[50:].mean(), abs=0.1)
    # A single run differs by 0.3, the mean of fifty by less than a tenth.
    assert of_runs == pytest.approx(0.3, abs=0.1)
    assert of_mean < 0.1


def test_a_lucky_result_is_not_the_best_so_far() -> None:
    """Leveled compaction gives 3,400 each time, universal 2,900 give or take 12%."""
    rng = np.random.default_rng(1)
    pool = FULL.sample(400, rng)
    leveled = [each for each in pool if each["compaction_style"] == "kCompactionStyleLevel"][:20]
    universal = [each for each in pool if each["compaction_style"] != "kCompactionStyleLevel"][:20]
    figures = [3400.0] * 20 + [2900.0 * float(np.exp(rng.normal(0.0, 0.12))) for _ in universal]
    figures[-1] = 3800.0
    results = [
        replace(result(figure), trial=Trial(each, 1.0))
        for each, figure in zip([*leveled, *universal], figures, strict=True)
    ]
    broken = replace(failed(), trial=Trial(FULL.sample(1, rng)[0], 1.0))
    objective, features = objective_named("throughput_ops_s"), Features(in_full(1))
    gains = gains_of(objective, [*results, broken])
    measured = [each.trial.configuration for each in [*results, broken]]
    model = Model(features.of_knobs, measured, gains)
    ranked, best = ranked_by_mean(objective, [*results, broken], model)
    assert set(ranked[:5]) <= set(leveled)
    assert ranked[-1] == broken.trial.configuration
    assert 3250.0 < np.exp(best) < 3450.0


def test_moved_bytes_follow_from_the_options_of_compactions() -> None:
    problem, default = in_full(1), FULL.default()
    plain = FULL.activated({**default, "compression": "kNoCompression"})
    points = Features(problem).of_all([default, plain])
    assert points.shape == (2, len(FULL.knobs) + 2)
    shape = TreeShape(
        style="leveled",
        trigger=4,
        slowdown=8,
        stop=16,
        flush_bytes=2 * 64 * 1024**2,
        level_base_bytes=256 * 1024**2,
        level_ratio=10,
        file_bytes=64 * 1024**2,
        file_ratio=1,
        levels=7,
    )
    keys = problem.expected_entries
    for point, share in zip(points, (0.5, 1.0), strict=True):
        data = TreeData(
            DistinctKeys(np.array([keys]), np.array([1 / keys])),
            problem.entry_bytes,
            share * problem.entry_bytes,
        )
        assert np.exp(point[-1]) == pytest.approx(steady_amplification(shape, data, ROUGH).total)


def test_the_curvature_counts_from_the_middle_of_the_range() -> None:
    features = Features(in_full(1))
    (values,) = (knob.choices for knob in FULL.knobs if knob.name == "block_size")
    points = features.of_quick([FULL.activated({**FULL.default(), "block_size": each}) for each in values])
    # The centres of k cells of equal width lie at 1 / 2k, 3 / 2k, and so on.
    centres = [(index + 0.5) / len(values) for index in range(len(values))]
    assert points[:, -1] == pytest.approx([(each - 0.5) ** 2 for each in centres])


def test_inactive_knobs_lie_apart() -> None:
    features, default = Features(in_full(1)), FULL.default()
    point = features.of_knobs([default])[0]
    active = features.cube.active(default)
    assert (point[~active] == -1).all()
    assert (point[active] >= 0).all()


def test_suggestions_go_beyond_what_was_measured() -> None:
    """The figure grows with two knobs, and no result has both of them high."""
    problem = in_full(40)
    names = ("block_size", "write_buffer_size")
    cube = UnitCube(FULL)
    places = [[knob.name for knob in FULL.knobs].index(name) for name in names]

    def gain(configuration: Configuration) -> float:
        return float(1000.0 * np.exp(cube.point(configuration)[places].sum()))

    drawn = [each for each in FULL.sample(200, np.random.default_rng(1)) if gain(each) < 3000.0][:40]
    results = [replace(result(gain(each)), trial=Trial(each, 1.0)) for each in drawn]
    (first, *_) = suggest(problem, results, 4, np.random.default_rng(2))
    assert gain(first) > max(map(gain, drawn))


def test_neighbours_are_valid_and_near() -> None:
    cube, rng = UnitCube(FULL), np.random.default_rng(1)
    best = FULL.default()
    found = neighbours(FULL, cube, [best], rng)
    assert len(found) == len(set(found)) > 100
    for each in found:
        assert not FULL.broken_rules(each)
    same = [sum(each.get(name) == value for name, value in best.items()) for each in found]
    # A changed form keeps all but three knobs, unless one of these changes what is active.
    assert sum(each >= len(best) - 3 for each in same) > 15


def test_parents_differ_in_five_knobs() -> None:
    best = FULL.default()
    near = FULL.activated({**best, "block_size": 8192, "bloom_bits": 12})
    far = FULL.activated({**best, "compaction_style": "kCompactionStyleUniversal"})
    assert apart([best, near, far, best]) == [best, far]
    assert len(apart(FULL.sample(40, np.random.default_rng(1)))) == 5


def test_a_small_space_is_exhausted() -> None:
    problem = synthetic_problem(budget_s=1e6)
    narrow = replace(
        problem.space,
        knobs=tuple(
            knob.narrowed(low=knob.default, high=knob.default) if not knob.choices else knob
            for knob in problem.space.knobs
        ),
    )
    small = replace(problem, space=narrow, baseline=narrow.default())
    count = len(narrow.grid())
    transcript = drive(Auto(AutoSettings(patience=1000)).search(small, np.random.default_rng(1)))
    assert len(transcript.configurations) == count


def test_fronts_never_settle() -> None:
    front = objective_named(["throughput_ops_s", "read_latency_us_p99"])
    assert not Auto(AutoSettings(patience=1))._has_settled([result(1.0), result(2.0, 200.0)], front)

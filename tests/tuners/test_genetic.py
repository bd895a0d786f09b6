import numpy as np
import pytest
from numpy.typing import NDArray

from rocktune.errors import UserError
from rocktune.objective import objective_named
from rocktune.space import load_space
from rocktune.testing.synthetic import synthetic_window
from rocktune.testing.tuners import drive, synthetic_problem
from rocktune.trial import Result, Status, Trial
from rocktune.tuners import Problem, tuner_named
from rocktune.tuners.evolutionary.breeding import GeneCrossover, GeneMutation
from rocktune.tuners.evolutionary.genetic import weighted_sums

EQUAL = np.ones(2)
BOTH = ("throughput_ops_s", "read_latency_us_p99")


def problem(trials: int, objective: tuple[str, ...] = BOTH, constraints: tuple[str, ...] = ()) -> Problem:
    space = load_space("jia-chen", None, 1e8)
    return Problem(
        space=space,
        objective=objective_named(objective, constraints),
        scale=64,
        budget_s=120 / 64 * trials,
        baseline=space.default(),
        expected_entries=1e8,
        entry_bytes=1040.0,
    )


def opposed(trial: Trial) -> Result:
    """More threads and buffers make it faster and its reads slower; 2 compactions are best for both."""
    configuration = trial.configuration
    power = float(configuration["threads"]) * float(configuration["max_write_buffer_number"]) ** 0.5
    loss = abs(float(configuration["max_background_compactions"]) - 2)
    return Result(
        trial,
        Status.OK,
        synthetic_window(0, trial.until_s, 1000 * power / (1 + loss), 50 * power * (1 + loss)),
    )


@pytest.mark.parametrize("name", ["ga", "nsga2", "epsilon-constraint", "weighted-sum", "smpso"])
def test_every_one_spends_its_budget_and_measures_nothing_twice(name: str) -> None:
    given = problem(120, constraints=("read_latency_us_p99<=600",))
    transcript = drive(tuner_named(name).search(given, np.random.default_rng(1)), opposed)
    assert transcript.spent_s == pytest.approx(given.budget_s)
    assert len(transcript.configurations) == 120


def test_a_genetic_search_finds_what_random_search_does_not() -> None:
    given = problem(120, ("throughput_ops_s",))

    def best(name: str) -> float:
        results = drive(tuner_named(name).search(given, np.random.default_rng(3)), opposed).results
        return max(result.figure("throughput_ops_s") for batch in results for result in batch)

    assert best("ga") == pytest.approx(1000 * 8 * 4, rel=0.01)
    assert best("ga") >= best("random")


def test_nsga2_approaches_the_whole_front() -> None:
    given = problem(200)
    transcript = drive(
        tuner_named("nsga2", {"population": 20}).search(given, np.random.default_rng(1)), opposed
    )
    results = [result for batch in transcript.results for result in batch]
    front = [
        results[index] for index in given.objective.front([given.objective.row(each) for each in results])
    ]
    assert {each.trial.configuration["max_background_compactions"] for each in front} == {2}
    assert len({each.trial.configuration["threads"] for each in front}) == 4


def test_the_epsilon_constraint_method_looks_where_the_constraint_is_kept() -> None:
    given = problem(150, ("throughput_ops_s",), ("read_latency_us_p99<=600",))
    transcript = drive(tuner_named("epsilon-constraint").search(given, np.random.default_rng(1)), opposed)
    late = [result for batch in transcript.results[-5:] for result in batch]
    kept = [result for result in late if result.figure("read_latency_us_p99") <= 600]
    assert len(kept) > len(late) / 2


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("epsilon-constraint", problem(20), "needs a constraint"),
        ("weighted-sum", problem(20, ("throughput_ops_s",)), "needs several objectives"),
    ],
)
def test_an_objective_that_makes_no_sense_is_refused_beforehand(
    name: str, given: Problem, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        tuner_named(name).min_budget_s(given)


def test_the_weighted_sum_is_equation_6_with_running_maxima() -> None:
    largest = np.zeros(2)
    gains = np.array([[100.0, -50.0], [200.0, -80.0]])
    assert weighted_sums(gains, largest, EQUAL) == pytest.approx([100 / 200 - 50 / 80, 200 / 200 - 80 / 80])
    # A larger latency comes; what came before is worth more than it was.
    assert weighted_sums(gains[:1], largest, EQUAL) == pytest.approx([100 / 200 - 50 / 80])
    assert weighted_sums(np.array([[100.0, -50.0], [10.0, -400.0]]), largest, EQUAL) == pytest.approx(
        [100 / 200 - 50 / 400, 10 / 200 - 400 / 400]
    )
    assert weighted_sums(np.array([[-np.inf, -np.inf]]), largest, EQUAL).tolist() == [-np.inf]


def test_weights_are_equation_5() -> None:
    gains = np.array([[100.0, -50.0], [200.0, -80.0]])
    found = weighted_sums(gains, np.zeros(2), np.array([3.0, 0.5]))
    assert found == pytest.approx([3 * 100 / 200 - 0.5 * 50 / 80, 3 - 0.5])


def test_each_objective_has_a_weight() -> None:
    with pytest.raises(UserError, match="weights: 3 for 2 objectives; give one for each"):
        tuner_named("weighted-sum", {"weights": [1, 1, 1]}).min_budget_s(problem(20))


def _cells(count: int) -> NDArray[np.bool_]:
    return np.ones(count, dtype=bool)


def test_tails_are_swapped_beyond_one_cut() -> None:
    parents = np.stack([np.zeros((500, 6)), np.ones((500, 6))])
    rng = np.random.default_rng(1)
    children = GeneCrossover(_cells(6))._do(_unit_problem(6), parents, random_state=rng)
    assert np.array_equal(children[0], 1 - children[1])
    changes = np.diff(children[0], axis=1)
    assert (np.abs(changes).sum(axis=1) == 1).all()
    assert set(changes.argmax(axis=1)) == set(range(5))


def test_mutation_draws_genes_at_its_rate() -> None:
    rng = np.random.default_rng(1)
    genes = np.full((4000, 6), 0.5)
    mutated = GeneMutation(_cells(6), 0.3)._do(_unit_problem(6), genes, random_state=rng)
    assert np.mean(mutated != 0.5) == pytest.approx(0.3, abs=0.02)
    assert mutated[mutated != 0.5].mean() == pytest.approx(0.5, abs=0.02)


def _unit_problem(genes: int) -> "object":
    from pymoo.core.problem import Problem as PymooProblem

    return PymooProblem(n_var=genes, n_obj=1, xl=0.0, xu=1.0)


def test_a_failed_configuration_does_not_breed() -> None:
    given = problem(100, ("throughput_ops_s",))

    def failing(trial: Trial) -> Result:
        if trial.configuration["threads"] == 8:
            return Result(trial, Status.CRASHED, None, "signal 11")
        return opposed(trial)

    transcript = drive(tuner_named("ga").search(given, np.random.default_rng(1)), failing)
    late = [trial.configuration for batch in transcript.batches[-5:] for trial in batch.trials]
    assert sum(each["threads"] == 8 for each in late) < len(late) / 3


def test_settings_are_written_down_and_bounded() -> None:
    assert tuner_named("nsga2").settings.model_dump() == {"population": 10, "mutation_rate": None}
    with pytest.raises(UserError, match="population"):
        tuner_named("nsga2", {"population": 1})
    assert tuner_named("ga").min_budget_s(synthetic_problem(64)) == pytest.approx(10 * 120 / 64)

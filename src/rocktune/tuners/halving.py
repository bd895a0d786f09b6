"""Successive halving over parked runs (Karnin et al. 2013; Dremel, section 4.5.1)."""

from collections.abc import Collection, Generator, Sequence

from rocktune.objective import Objective, Row
from rocktune.trial import Batch, Result, RunKey, Status, Trial


def successive_halving(
    results: Sequence[Result],
    ages_s: Sequence[float],
    objective: Objective,
    released: Collection[RunKey] = (),
) -> Generator[Batch, Sequence[Result], list[Result]]:
    """Takes the better half of the runs to the next age, and repeats this for each age.

    Half of an odd number is rounded down. At least one run is kept. Failed runs are never kept.

    Args:
        results: results of runs of equal age.
        ages_s: the following ages in seconds, ascending.
        objective: the objective that ranks the runs.
        released: runs among them that were released before; they must be losers (see `sure_losers`).

    Yields:
        A batch for each age, which releases the runs that were not kept.

    Returns:
        The results at the last age, best first.
    """
    ranked = best_first(results, objective)
    # Runs that were released before must not be released twice.
    gone = set(released)
    for age_s in ages_s:
        kept = ranked[: survivors(len(ranked))]
        if not kept:
            break
        runs = [result.trial.run for result in kept]
        fallen = tuple(
            run for run in (result.trial.run for result in results) if run not in gone and run not in runs
        )
        gone.update(fallen)
        results = yield Batch(tuple(Trial(each, age_s, replicate) for each, replicate in runs), fallen)
        ranked = best_first(results, objective)
    return ranked


def survivors(runs: int) -> int:
    """Returns the number of runs that halving keeps of `runs`: half of them, but at least one if any."""
    return max(runs // 2, min(runs, 1))


def halving_cost_s(runs: int, ages_s: Sequence[float], runs_continue: bool = True) -> float:
    """Returns the cost of a complete halving of fresh runs, in seconds of measuring.

    Args:
        runs: number of runs at the first age.
        ages_s: all ages in seconds, ascending.
        runs_continue: whether a run continues from the previous age instead of starting over.
    """
    cost_s, previous_s = 0.0, 0.0
    for age_s in ages_s:
        cost_s += runs * (age_s - previous_s)
        # A run that starts over pays for all seconds from age 0 at each age.
        runs, previous_s = survivors(runs), age_s if runs_continue else 0.0
    return cost_s


def best_first(results: Sequence[Result], objective: Objective) -> list[Result]:
    """Returns the results whose trials did not fail, best first."""
    ranks = objective.ranks(results)
    order = sorted(range(len(results)), key=ranks.__getitem__)
    return [results[index] for index in order if results[index].status is Status.OK]


def sure_losers(results: Sequence[Result], kept: int, objective: Objective) -> list[RunKey]:
    """Returns the runs that cannot rank among the best `kept`, whatever results further runs have.

    These are failed runs, and runs that at least `kept` other runs beat in every field of the objective
    without a larger violation of its constraints. Further runs cannot change the order of two such runs.
    """
    running = [result for result in results if result.status is Status.OK]
    rows = [objective.row(result) for result in running]

    # With balanced fields a rank is the worst of the ranks by field. Beating a run in all fields means a
    # lower rank in each, whatever runs are added, and so a lower worst rank.
    def beats(other: Row, own: Row) -> bool:
        return objective.violation(other) <= objective.violation(own) and all(
            objective.direction(field) * other[field] > objective.direction(field) * own[field]
            for field in objective.fields
        )

    lost = {
        result.trial.run
        for result, own in zip(running, rows, strict=True)
        if sum(beats(other, own) for other in rows) >= kept
    }
    return [
        result.trial.run for result in results if result.status is not Status.OK or result.trial.run in lost
    ]

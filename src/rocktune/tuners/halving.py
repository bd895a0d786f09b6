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
    """Keeps the better half of the runs, takes it to the next age, and so on.

    Half of an odd number is rounded down. At least one run is kept; a failed one never is.

    Args:
        results: of runs that stand at one age.
        ages_s: the ages to come, ascending.
        objective: what "better" means.
        released: those of the runs that are released already; they must be sure losers.

    Yields:
        A batch for each age, which releases the runs that have just fallen out.

    Returns:
        The last age's results, best first.
    """
    ranked = best_first(results, objective)
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
    """Returns how many of `runs` go on to the next age."""
    return max(runs // 2, min(runs, 1))


def halving_cost_s(runs: int, ages_s: Sequence[float], runs_continue: bool = True) -> float:
    """Returns the seconds of measuring that a whole halving of fresh runs costs.

    Args:
        runs: at the first age.
        ages_s: the first age and the following ones, ascending.
        runs_continue: whether a run goes on from the age before, rather than begin again.
    """
    cost_s, previous_s = 0.0, 0.0
    for age_s in ages_s:
        cost_s += runs * (age_s - previous_s)
        runs, previous_s = survivors(runs), age_s if runs_continue else 0.0
    return cost_s


def best_first(results: Sequence[Result], objective: Objective) -> list[Result]:
    """Returns the results that did not fail, best first."""
    ranks = objective.ranks(results)
    order = sorted(range(len(results)), key=ranks.__getitem__)
    return [results[index] for index in order if results[index].status is Status.OK]


def sure_losers(results: Sequence[Result], kept: int, objective: Objective) -> list[RunKey]:
    """Returns the runs that cannot be among the best `kept`, whatever further runs will give.

    These are the failed ones and those that `kept` others beat in every field of the objective while they
    break its constraints no more: each of those others has the lower rank in every field, whoever joins, and
    so the lower worst rank.
    """
    running = [result for result in results if result.status is Status.OK]
    rows = [objective.row(result) for result in running]

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

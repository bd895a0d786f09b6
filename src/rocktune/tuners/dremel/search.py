"""Dremel (Zhao et al., SIGMETRICS 2022): arms of fused features, UCB sampling, successive halving."""

from collections.abc import Generator, Sequence

import numpy as np

from rocktune.errors import UserError
from rocktune.trial import Batch, Result, RunKey, Trial
from rocktune.tuners.base import Problem, Search, Tuner
from rocktune.tuners.cost import fits
from rocktune.tuners.dremel.arms import Arm, make_arms, reward_arms
from rocktune.tuners.dremel.confidence import promising_arms, standard_deviation
from rocktune.tuners.dremel.settings import DremelSettings
from rocktune.tuners.dremel.time_points import steady_from_s, time_points_from_s
from rocktune.tuners.halving import halving_cost_s, successive_halving, sure_losers, survivors
from rocktune.units import format_seconds


class Dremel(Tuner):
    """The tuner Dremel.

    It measures one configuration of each arm, then more of the most promising arms (UCB sampling), and then
    halves the runs at each further time point.
    """

    name = "dremel"
    summary = "bandit over arms of four fused features with successive halving (SIGMETRICS 2022)"
    settings_type = DremelSettings
    settings: DremelSettings

    def search(self, problem: Problem, rng: np.random.Generator) -> Search:
        """See `Tuner.search`. The last batch holds the finalists at the last time point."""
        # First of all, because `pooled_configurations` repeats this draw with a generator in its first state.
        arms = make_arms(problem, self.settings, rng)
        ages_s, budget_s, probed = yield from self._time_points(problem)
        rounds = self._rounds(problem, len(arms), ages_s, budget_s)
        # How many runs halving will keep follows from this number, so losers can be released during sampling.
        planned = len(arms) + rounds * self.settings.top_arms

        results = yield from _pull(arms, ages_s[0], probed)
        released = yield from self._sample_further(problem, arms, results, rounds, survivors(planned))
        yield from successive_halving(results, ages_s[1:], problem.objective, released)

    def _sample_further(
        self, problem: Problem, arms: Sequence[Arm], results: list[Result], rounds: int, kept: int
    ) -> Generator[Batch, Sequence[Result], set[RunKey]]:
        """Runs another configuration of each of the top k arms in every round (algorithm 2 from line 3).

        All runs stop at the same age, because figures of different ages do not compare.

        Args:
            problem: the problem to solve.
            arms: all arms, each with the result of its first configuration.
            results: results of these first configurations. The further results are appended to it.
            rounds: R, the number of rounds.
            kept: maximum number of runs that halving will keep. Runs that cannot be among them are released.

        Returns:
            The runs that were released.
        """
        age_s = results[0].trial.until_s
        reward_arms(arms, problem.objective)
        global_deviation = standard_deviation([reward for arm in arms for reward in arm.rewards])
        released: set[RunKey] = set()
        # Waiting runs hold memory, so sure losers are released before each round and not only at the halving.
        for _ in range(rounds):
            chosen = promising_arms(arms, self.settings.top_arms, global_deviation)
            if not chosen:
                break
            lost = [run for run in sure_losers(results, kept, problem.objective) if run not in released]
            released.update(lost)
            results += yield from _pull(chosen, age_s, lost)
            reward_arms(arms, problem.objective)
        return released

    def _time_points(
        self, problem: Problem
    ) -> Generator[Batch, Sequence[Result], tuple[tuple[float, ...], float, list[RunKey]]]:
        """Returns the time points and the remaining budget, in seconds at this scale, and the probe's run.

        The list of runs is empty unless the time points are found by a probe, a run of the baseline.
        """
        points_s, budget_s = self.settings.time_points_s, problem.budget_s
        if points_s == "auto":
            probe_s = problem.age_s(problem.trial_age_s)
            (result,) = yield Batch((Trial(problem.baseline, probe_s),))
            # The probe goes to the end of an ordinary trial, because nobody knows when throughput is steady.
            budget_s -= probe_s
            points_s = time_points_from_s(self._steady_from_s(problem, result), probe_s)
            return points_s, budget_s, [result.trial.run]
        return tuple(problem.age_s(point_s) for point_s in points_s), budget_s, []

    def _steady_from_s(self, problem: Problem, probe: Result) -> float | None:
        """Returns the age in seconds at which the probe's throughput is steady; None if unknown or never."""
        if probe.measurement is None:
            return None
        # Only engines that report intervals have a series.
        series = probe.measurement.raw.get("series")
        if series is None:
            return None
        window_s = problem.age_s(self.settings.steady_window_s)
        return steady_from_s(
            series["operations"], series["interval_s"], window_s, self.settings.steady_deviation
        )

    def _rounds(self, problem: Problem, arms: int, ages_s: Sequence[float], budget_s: float) -> int:
        """Returns R, the number of rounds: the setting, or fewer if the budget does not suffice.

        Raises:
            UserError: the budget does not suffice for one halving of the arms.
        """
        needed_s = halving_cost_s(arms, ages_s, problem.runs_continue)
        if not fits(needed_s, budget_s):
            raise UserError(
                f"budget: one halving of {arms} arms takes {format_seconds(needed_s)} of measuring, but only "
                f"{format_seconds(budget_s)} are left; use a larger budget"
            )
        rounds = 0
        while rounds != self.settings.rounds:  # never equal if the setting is None: the budget ends the loop
            following = arms + (rounds + 1) * self.settings.top_arms
            if not fits(halving_cost_s(following, ages_s, problem.runs_continue), budget_s):
                break
            rounds += 1
        return rounds

    def min_budget_s(self, problem: Problem) -> float:
        """Returns the seconds of measuring for one halving of the arms, and for the probe if there is one.

        Raises:
            UserError: the space tunes several column families, whose options the features do not fuse.
        """
        if problem.space.families:
            names = ", ".join(family.name for family in problem.space.families)
            raise UserError(
                f"tuner 'dremel': its features fuse the options of one column family, not of {names}; choose "
                "one with --column-family, or another tuner such as tpe"
            )
        # An upper bound: some combinations of buckets may hold no configuration.
        arms = self.settings.buckets ** len(self.settings.features)
        points_s, probe_s = self.settings.time_points_s, 0.0
        if points_s == "auto":
            probe_s = problem.trial_age_s
            points_s = time_points_from_s(None, probe_s)
        return problem.age_s(halving_cost_s(arms, points_s, problem.runs_continue) + probe_s)


def _pull(
    arms: Sequence[Arm], age_s: float, released: Sequence[RunKey] = ()
) -> Generator[Batch, Sequence[Result], list[Result]]:
    """Runs the next untried configuration of each arm to an age, and returns the results."""
    trials = tuple(Trial(arm.untried.popleft(), age_s) for arm in arms)
    results = yield Batch(trials, tuple(released))
    for arm, result in zip(arms, results, strict=True):
        arm.results.append(result)
    return list(results)

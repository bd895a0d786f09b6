"""The search of a process tuner: a conversation with its program, which a replay need not repeat."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rocktune.errors import UserError
from rocktune.spec_file import validated
from rocktune.trial import Batch, Configuration, Result, Trial
from rocktune.tuners.base import Problem, Search, Tuner
from rocktune.tuners.process.answers import Answer, AskedTrial, Fitter
from rocktune.tuners.process.messages import problem_message, refusal_message, result_message
from rocktune.tuners.process.program import Program, ProgramSpec
from rocktune.tuners.process.runs import OverBudgetError, Runs

_MAX_IDLE = 200
"""Number of consecutive answers without anything to measure after which a search ends."""


class ProcessTuner(Tuner):
    """A tuner whose program runs in a process of its own.

    It is the one kind of tuner with I/O. Each batch is a function, which a replay does not call: the program
    is started when the first new batch is needed, and is sent all recorded results before it is asked.
    """

    @abstractmethod
    def program(self) -> ProgramSpec:
        """Returns the program.

        Raises:
            UserError: it cannot be found.
        """

    def search(self, problem: Problem, rng: np.random.Generator) -> Search:
        """See `Tuner.search`. A batch without trials ends the search."""
        conversation = _Conversation(self.program(), problem, rng)
        try:
            while not conversation.runs.spent:
                results = yield conversation.next_batch
                if not results:
                    break
                conversation.take(results)
        finally:
            conversation.close()

    def min_budget_s(self, problem: Problem) -> float:
        """Returns the cost of one ordinary trial in seconds of measuring."""
        self.program().check()
        return problem.age_s(problem.trial_age_s)


@dataclass(frozen=True)
class _Planned:
    """What becomes of a trial that the program asked for.

    Attributes:
        trial: the trial to measure; None if it is answered without.
        answer: the message with the answer; empty if it is the trial's result.
    """

    trial: Trial | None = None
    answer: Mapping[str, Any] = field(default_factory=dict)


class _Conversation:
    """The exchange with one program about one problem.

    Attributes:
        runs: the runs so far.
    """

    def __init__(self, spec: ProgramSpec, problem: Problem, rng: np.random.Generator) -> None:
        self._spec, self._problem = spec, problem
        seed = int(rng.integers(1 << 32))
        self._message = problem_message(problem, seed, spec.settings)
        self._fitter = Fitter(problem.space, seed)
        self._program: Program | None = None
        self._planned: list[_Planned] = []
        self._unsent: list[Mapping[str, Any]] = []
        self._refusal, self._over_budget = "", False
        self.runs = Runs(problem)

    def next_batch(self) -> Batch:
        """Asks the program for a batch; one without trials if it has ended or the budget does not suffice.

        Raises:
            UserError: the program failed, or none of its last answers had anything to measure.
        """
        for _ in range(_MAX_IDLE):
            asked = self._asked()
            if asked is None:
                return Batch(())
            self._plan(asked)
            trials = tuple(dict.fromkeys(each.trial for each in self._planned if each.trial is not None))
            if trials:
                return Batch(trials, self.runs.released_by(trials))
            if self._over_budget:
                return Batch(())
            self._answer([])
        if self._refusal and self._program is not None:
            raise self._program.failure(
                f"its last {_MAX_IDLE} answers had nothing to measure: {self._refusal}"
            )
        # It repeats what is known, so the space is used up.
        return Batch(())

    def take(self, results: Sequence[Result]) -> None:
        """Takes the results of a batch, which the program gets with the next question."""
        self.runs.take(results)
        self._answer(results)

    def close(self) -> None:
        """Ends the program."""
        if self._program is not None:
            self._program.close()

    def _asked(self) -> list[AskedTrial] | None:
        """Sends what the program does not know yet and returns the trials of its answer; None at its end.

        Raises:
            UserError: the program failed, answered nonsense, or ended before it asked for anything.
        """
        message: dict[str, Any] = {"results": self._unsent, "left_s": self.runs.left_s}
        if self._program is None:
            self._program = Program(self._spec)
            message = {"problem": self._message, **message}
        document = self._program.ask(message)
        self._unsent = []
        if document is None:
            if not self.runs.any:
                raise UserError(f"{self._spec.shown}: ended before anything was measured")
            return None
        try:
            return validated(Answer, document, "its answer").trials
        except UserError as wrong:
            raise self._program.failure(str(wrong)) from None

    def _plan(self, asked: Iterable[AskedTrial]) -> None:
        """Decides what becomes of each trial that the program asked for."""
        self._planned, self._refusal, self._over_budget = [], "", False
        batch: dict[Configuration, Trial] = {}
        for each in asked:
            until_s = each.until_s or self._problem.age_s(self._problem.trial_age_s)
            try:
                planned = self._decided(Trial(self._fitter.fitted(each.configuration), until_s), batch)
            except UserError as refused:
                self._refusal = str(refused)
                self._over_budget |= isinstance(refused, OverBudgetError)
                planned = _Planned(answer=refusal_message(each.configuration, until_s, self._refusal))
            self._planned.append(planned)

    def _decided(self, trial: Trial, batch: dict[Configuration, Trial]) -> _Planned:
        """Returns what becomes of a trial, which is added to its batch if it is to be measured.

        Raises:
            UserError: it cannot be measured.
        """
        known = self.runs.known(trial)
        if known is not None:
            return _Planned(answer=result_message(known, self._problem.objective))
        same = batch.get(trial.configuration)
        if same is None:
            self.runs.check_budget(trial, list(batch.values()))
            batch[trial.configuration] = trial
        elif same != trial:
            raise UserError("until_s: the batch has this configuration at another age too")
        return _Planned(trial=trial)

    def _answer(self, results: Sequence[Result]) -> None:
        """Queues the answers to the planned trials, in their order.

        Args:
            results: those of the trials to measure. Of a replayed batch nothing is planned, and only its
                results are sent.
        """
        messages = {result.trial: result_message(result, self._problem.objective) for result in results}
        if not self._planned:
            self._unsent += messages.values()
        for each in self._planned:
            self._unsent.append(each.answer if each.trial is None else messages[each.trial])
        self._planned = []

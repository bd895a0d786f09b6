"""The phases of a study: baseline, search, pick, tails, ablate, prune, prove, offer."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from rocktune.ledger import Ledger, StudyRecord
from rocktune.outcome import VERSION, OptionEffect, Outcome, Side, Verification
from rocktune.space import Configuration
from rocktune.study import seeds
from rocktune.study.executors import Executor
from rocktune.study.measuring.interrupt import Interrupt, StudyInterrupted, continuing_arguments
from rocktune.study.measuring.loop import Loop, StopRequested
from rocktune.study.measuring.observer import Observer
from rocktune.study.measuring.score import PrimaryScore
from rocktune.study.openings import Openings
from rocktune.study.proving import bounds, lasting, learned, outcome
from rocktune.study.proving.ablation import ablate, prune
from rocktune.study.proving.best import BestSoFar
from rocktune.study.proving.picking import pick
from rocktune.study.proving.sequential import design_of
from rocktune.study.proving.tail import Tail, offer
from rocktune.study.proving.tail_choice import TailChoice, choose_by_tail
from rocktune.study.proving.verification import Proof, Runs, Stage, aged, prove
from rocktune.study.specs.estimate import verification_s
from rocktune.study.specs.problem import objective_of, problem_of
from rocktune.study.specs.spec import BASELINE_AGE_SHARES, StudySpec
from rocktune.trial import Result
from rocktune.tuners import tuner_named
from rocktune.tuners.tried import tried_first
from rocktune.units import format_scale

Found = TypeVar("Found")

BATCHES_PER_SCALE = 1_000_000
"""The first batch of a verification at scale 1/S is S times this, above all batches of the study's own."""


class Phases:
    """The phases of a study while this process runs it, at its own scale or at that of a verification."""

    def __init__(
        self,
        spec: StudySpec,
        executor: Executor,
        ledger: Ledger,
        study: StudyRecord,
        observer: Observer | None,
        verified_scale: int | None = None,
    ) -> None:
        self._spec = spec
        self._executor = executor
        self._ledger = ledger
        self._study = study
        self._observer = observer or Observer()
        self._problem = problem_of(spec)
        self._scale = verified_scale or spec.scale
        self._stated = objective_of(spec, self._scale)
        self._objective = self._stated
        self._best = BestSoFar(self._stated, self._observer)
        self._openings = Openings(spec, self._problem, self._scale)
        self._interrupt = Interrupt(self._observer)
        self._loop = Loop(
            executor,
            self._openings.engine_inputs,
            PrimaryScore(self._stated),
            ledger,
            study,
            self._observer,
            self._interrupt,
            first_batch=BATCHES_PER_SCALE * verified_scale if verified_scale else 0,
        )

    def run(self) -> Outcome:
        """Runs all phases, records the outcome and returns it."""
        try:
            with self._interrupt:
                self._measure_baseline()
                self._search()
                result = self._verified()
        except StopRequested:
            self._ledger.set_state(self._study, "interrupted")
            raise self._interrupted("resume", self._best.configuration, self._best.ratio) from None
        self._ledger.set_outcome(self._study, result.to_json())
        self._ledger.set_state(self._study, "finished")
        return result

    def verify(self, recorded: Outcome, best: Side) -> Outcome:
        """Runs only the proof, with the recorded winner; records and returns the updated outcome."""
        winner, baseline = (Configuration(side.configuration) for side in (best, recorded.baseline))
        scale = format_scale(self._scale)
        try:
            with self._interrupt:
                proven = self._prove(winner, baseline, f"verify {scale}")
        except StopRequested:
            # A fixed number may be this verification's own.
            fixed = f" --pairs {pairs}" if (pairs := self._spec.verification.pairs) else ""
            raise self._interrupted(
                "verify", winner, recorded.ratio.value, f" --scale {scale}{fixed}"
            ) from None
        finally:
            self._ledger.set_state(self._study, "finished")
        result = recorded.with_proof(scale, proven).model_copy(update=self._counted())
        self._ledger.set_outcome(self._study, result.to_json())
        return result

    def _interrupted(
        self, command: str, best: Configuration | None, ratio: float | None, arguments: str = ""
    ) -> StudyInterrupted:
        """Returns the exception that tells the user how to continue."""
        arguments += continuing_arguments(self._ledger, self._executor)
        resume = f"rocktune {command} {self._spec.name}{arguments}"
        return StudyInterrupted(self._spec.name, best, ratio, resume)

    def _measure_baseline(self) -> None:
        """Measures the baseline once, to show the progress of the search as a ratio."""
        self._enter("baseline")
        ages_s = [self._age_s(self._spec.verification.age_s * share) for share in BASELINE_AGE_SHARES]
        run = aged(self._problem.baseline, seeds.BASELINE, ages_s)
        results = self._loop.run("baseline", run, True, self._best.add_baseline)
        self._bound_by(results[-1])
        if warning := lasting.rate_warning(self._spec, results[-1]):
            self._observer.note(warning)

    def _bound_by(self, baseline: Result) -> None:
        """Sets the bounds of the search that follow from a run of the baseline."""
        self._objective = bounds.searched(self._stated, baseline)
        self._problem = replace(self._problem, objective=self._objective)
        self._best.objective = self._objective
        if sentence := bounds.yielded_sentence(bounds.bounds_of(self._stated, self._objective)):
            self._observer.note(sentence)

    def _search(self) -> None:
        """Runs the tuner's search."""
        tuner = tuner_named(self._spec.tuner, self._spec.tuner_settings)
        # A seed of its own, unrelated to the seeds of workloads.
        rng = np.random.default_rng(seeds.seed_of(self._spec.seed, "tuner"))
        self._enter("search", self._spec.budget_s)
        self._loop.run("search", tried_first(tuner, self._problem, rng), True, self._best.add)

    def _verified(self) -> Outcome:
        """Runs the phases after the search and returns the outcome."""
        settings, objective, baseline = self._spec.verification, self._objective, self._problem.baseline
        count = settings.front_points if objective.seeks_front else settings.finalists
        replicates, age_s = seeds.replicates(seeds.PICK, settings.pick_runs), self._age_s(settings.age_s)
        picking = pick(self._best.results, objective, count, settings.pick_rounds, replicates, age_s)
        picked = self._run("pick", picking)
        candidates, choice = picked.candidates(objective)[:count], None
        if candidates:
            choice = self._chosen_by_tail(candidates, seeds.PICK)
            proof, changes = self._pruned_and_proven(choice)
        else:
            proof, changes = outcome.unproven(self._spec, baseline, objective, self._openings.options), ()
        return Outcome(
            version=VERSION,
            **outcome.conditions(self._spec, self._executor, self._ledger, self._study).explicit_fields(),
            **proof.explicit_fields(),
            options_that_matter=changes,
            verifications={} if proof.verified_at_scale is None else {proof.verified_at_scale: proof},
            front=outcome.front_of(picked, objective, self._openings.options),
            front_noise=dict(picked.noise),
            nearest_miss=outcome.nearest_miss_of(picked, objective, self._openings.options),
            passed_over=outcome.passed_over(picked, choice, objective, self._openings.options),
            hypervolume=outcome.hypervolume_of(self._ledger, self._study, objective),
            models=learned.models(self._ledger, self._study),
            tasks_left_out=learned.tasks_left_out(self._ledger, self._study),
            **self._counted(),
        )

    def _counted(self) -> dict[str, Any]:
        """Returns the outcome's fields that count trials and seconds."""
        return {
            "seconds": outcome.seconds_of(self._ledger, self._study),
            "trials": outcome.trials_of(self._ledger, self._study),
        }

    def _chosen_by_tail(
        self, candidates: Sequence[Configuration], first: int, known: Runs | None = None
    ) -> TailChoice:
        """Runs the phase that chooses by tails; the first candidate is chosen without it in other protocols.

        Args:
            candidates: see `choose_by_tail`.
            first: the phase's first replicate, without the number that is added for an offered rate.
            known: see `choose_by_tail`.
        """
        settings, baseline = self._spec.verification, self._problem.baseline
        if self._spec.protocol != "steady" or candidates[0] == baseline:
            return TailChoice(candidates[0], {}, {})
        rate = lasting.offered_ops_s(self._spec, self._best.baseline[-1:])
        self._openings.offered_ops_s = rate
        replicates = seeds.replicates(seeds.OFFER + first, settings.pick_runs)
        ages_s = self._offered_ages_s(settings.chosen_windows)
        choosing = choose_by_tail(candidates, baseline, rate, settings, replicates, ages_s, known)
        return self._run("tails", choosing)

    def _pruned_and_proven(self, choice: TailChoice) -> tuple[Verification, tuple[OptionEffect, ...]]:
        """Runs ablation, pruning and proof; returns the proof and the options' effects."""
        winner, settings = choice.chosen, self._spec.verification
        objective, baseline = self._objective, self._problem.baseline
        ablations = seeds.replicates(seeds.ABLATE, settings.ablation_pairs)
        ablation_age_s = self._age_s(settings.ablation_age_s)
        effects = []
        if winner != baseline and ablations:
            stage = ablate(winner, baseline, objective, self._openings.is_valid, ablations, ablation_age_s)
            effects = self._run("ablate", stage)
        # Each attempt has replicates of its own. Reusing those that made an attempt fail would bias the next.
        attempts = [
            seeds.replicates(seeds.PRUNE + attempt * settings.prune_pairs, settings.prune_pairs)
            for attempt in range(settings.prune_attempts)
        ]
        age_s = self._age_s(settings.age_s)
        pruning = prune(winner, baseline, effects, objective, self._openings.is_valid, attempts, age_s)
        exported = self._run("prune", pruning)
        if exported != winner:
            # An option without effect in a closed loop may matter to the tail.
            exported = self._chosen_by_tail((exported, winner), seeds.PRUNE, choice.runs).chosen
        proven = self._prove(exported, baseline, "prove")
        space = self._problem.space
        return proven, outcome.options_that_matter(effects, winner, exported, baseline, space)

    def _prove(self, winner: Configuration, baseline: Configuration, phase: str) -> Verification:
        """Runs the proof in a phase of the given name, and its phase at an offered rate."""
        settings = self._spec.verification
        replicates = seeds.replicates(seeds.PROVE, settings.limit_pairs)
        # With the study's own replicates, a verification at another scale would replay its runs.
        if phase != "prove":
            replicates = [seeds.at_scale(replicate, self._scale) for replicate in replicates]
        design, age_s = design_of(settings), self._age_s(self._spec.proof_s)
        proof = self._run(phase, prove(winner, baseline, self._stated, design, replicates, age_s))
        tail = None
        # A winner that is not better is not recommended, whatever its tail.
        if self._spec.protocol == "steady" and proof.recommended == "best":
            tail = self._offer(proof, replicates[: len(proof.runs[winner])])
        return outcome.proven(self._spec, proof, tail, self._openings.options, self._scale)

    def _offer(self, proof: Proof, replicates: Sequence[int]) -> Tail:
        """Runs the proof's phase at an offered rate."""
        offered_ops_s = lasting.offered_ops_s(self._spec, proof.runs[proof.baseline])
        self._openings.offered_ops_s = offered_ops_s
        settings = self._spec.verification
        ages_s = self._offered_ages_s(1 + settings.max_offered_windows)
        pairs = [seeds.OFFER + replicate for replicate in replicates]
        offering = offer(proof.winner, proof.baseline, offered_ops_s, settings, pairs, ages_s)
        return self._run("offer", offering, continues_runs=True)

    def _offered_ages_s(self, windows: int) -> list[float]:
        """Returns the ages at which a run's windows at the offered rate end, seconds."""
        return [self._age_s(self._spec.verification.offered_s * end) for end in range(1, 1 + windows)]

    def _run(self, phase: str, stage: Stage[Found], continues_runs: bool = False) -> Found:
        """Runs a stage of the verification, whose runs are compared in pairs.

        Args:
            phase: name of the phase.
            stage: the stage.
            continues_runs: True if a later batch of the stage may continue a run.
        """
        self._enter(phase)
        return self._loop.run(phase, stage, continues_runs, paired=True)

    def _enter(self, phase: str, total_s: float | None = None) -> None:
        """Begins a phase: informs the observer and sets the study's state."""
        at_most = verification_s(self._spec, len(self._problem.baseline), self._scale)
        # The phase of a later verification is called "verify 1/S".
        estimated_s = at_most.get(phase.partition(" ")[0])
        self._observer.phase_started(phase, estimated_s if total_s is None else total_s)
        self._ledger.set_state(self._study, phase)

    def _age_s(self, full_size_s: float) -> float:
        """Returns the age in seconds at this session's scale."""
        return self._spec.age_s(full_size_s, self._scale)

"""What a study recommends after an emulated search: the finalists' fresh runs, and the proof.

The phases are the study's own (docs/design/verification.md), with its default settings. Ablation and pruning
are left out. They could only bring the winner nearer to the baseline.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from rocktune.objective import Objective
from rocktune.study import seeds
from rocktune.study.proving.picking import pick_in_rounds
from rocktune.study.proving.sequential import design_of
from rocktune.study.proving.verification import Stage, prove
from rocktune.study.specs.spec import VerificationSettings
from rocktune.trial import Configuration, Result, Trial

Answer = Callable[[Trial], Result]
"""Measures a trial; trials of equal replicate and configuration have the same result."""

Found = TypeVar("Found")


def recommendation(
    results: Sequence[Result],
    objective: Objective,
    baseline: Configuration,
    answer: Answer,
    settings: VerificationSettings,
) -> Configuration | None:
    """Returns what a study recommends; None if that is the baseline.

    Args:
        results: results of the search.
        objective: objective of the study, with bounds in their units.
        baseline: the study's baseline.
        answer: measures the trials of the phases after the search.
        settings: settings of these phases.
    """
    age_s = max(result.trial.until_s for result in results)
    replicates = seeds.replicates(seeds.PICK, settings.pick_runs)
    rounds, count = settings.pick_rounds, settings.finalists
    picked = _driven(pick_in_rounds(results, objective, count, rounds, replicates, age_s), answer)
    candidates = picked.candidates(objective)
    if not candidates:
        return None
    replicates = seeds.replicates(seeds.PROVE, settings.limit_pairs)
    proof = _driven(prove(candidates[0], baseline, objective, design_of(settings), replicates, age_s), answer)
    return candidates[0] if proof.recommended == "best" else None


def _driven(stage: Stage[Found], answer: Answer) -> Found:
    """Runs a stage and returns what it finds."""
    try:
        batch = next(stage)
        while True:
            batch = stage.send([answer(trial) for trial in batch.trials])
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]

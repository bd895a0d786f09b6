"""What a study recommends after an emulated search: the finalists' fresh runs, and the proof.

The phases are the study's own (docs/design/verification.md), with its default settings. Ablation and pruning
are left out. They could only bring the winner nearer to the baseline.
"""

from collections.abc import Callable, Sequence

from benchmarks.common.stages import driven
from rocktune.objective import Objective
from rocktune.study import seeds
from rocktune.study.proving.picking import pick
from rocktune.study.proving.sequential import design_of
from rocktune.study.proving.verification import prove
from rocktune.study.specs.spec import VerificationSettings
from rocktune.trial import Batch, Configuration, Result, Trial

Answer = Callable[[Trial], Result]
"""Measures a trial; trials of equal replicate and configuration have the same result."""


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

    def measure(batch: Batch) -> list[Result]:
        return [answer(trial) for trial in batch.trials]

    age_s = max(result.trial.until_s for result in results)
    replicates = seeds.replicates(seeds.PICK, settings.pick_runs)
    rounds, count = settings.pick_rounds, settings.finalists
    picked = driven(pick(results, objective, count, rounds, replicates, age_s), measure)
    candidates = picked.candidates(objective)
    if not candidates:
        return None
    replicates = seeds.replicates(seeds.PROVE, settings.limit_pairs)
    proof = driven(prove(candidates[0], baseline, objective, design_of(settings), replicates, age_s), measure)
    return candidates[0] if proof.recommended == "best" else None

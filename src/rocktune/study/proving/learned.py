"""What a tuner's models learned in a search, as the ledger keeps it."""

from collections.abc import Mapping
from typing import Any

from rocktune.ledger import Ledger, StudyRecord
from rocktune.outcome import LearnedModel
from rocktune.spec_file import validated
from rocktune.study.measuring.loop import EXPLAINED


def models(ledger: Ledger, study: StudyRecord) -> tuple[LearnedModel, ...]:
    """Returns the last models of the study's tuner; empty if the tuner has no models.

    Raises:
        UserError: a user's tuner described its models in a form that is not `LearnedModel`.
    """
    described = _last_with(ledger, study, "models").get("models", ())
    return tuple(validated(LearnedModel, model, "the tuner's models") for model in described)


def tasks_left_out(ledger: Ledger, study: StudyRecord) -> dict[str, str]:
    """Returns the adjacent tasks that taught the last models nothing, each with the reason."""
    return dict(_last_with(ledger, study, "models").get("tasks_left_out", {}))


def _last_with(ledger: Ledger, study: StudyRecord, name: str) -> Mapping[str, Any]:
    """Returns the last of the tuner's explanations that has a field; empty if no one has it."""
    explained = [event.payload for event in ledger.events(study, EXPLAINED) if name in event.payload]
    return explained[-1] if explained else {}

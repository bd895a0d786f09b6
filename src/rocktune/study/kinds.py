"""What a ledger may hold under a name: a study, a sweep or a comparison."""

from collections.abc import Mapping
from typing import Any

from rocktune.spec_file import validated
from rocktune.study.comparison import ComparisonSpec
from rocktune.study.specs.spec import StudySpec, SweepSpec


def recorded_spec(document: Mapping[str, Any]) -> StudySpec | SweepSpec | ComparisonSpec:
    """Returns what a ledger holds under a name.

    Raises:
        UserError: it is none that this version knows.
    """
    where = "its specification"
    if document.get("kind") == "sweep":
        return validated(SweepSpec, dict(document), where)
    if document.get("kind") == "comparison":
        return validated(ComparisonSpec, dict(document), where)
    return validated(StudySpec, dict(document), where)

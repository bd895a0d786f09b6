"""Parses recorded specifications: a study, a sweep, a scale check, an upgrade or a comparison."""

from collections.abc import Mapping
from typing import Any

from rocktune.spec_file import validated
from rocktune.study.comparison import ComparisonSpec
from rocktune.study.specs.spec import ScaleCheckSpec, StudySpec, SweepSpec, UpgradeSpec

AnySpec = StudySpec | SweepSpec | ScaleCheckSpec | UpgradeSpec | ComparisonSpec
"""The specification of anything that has a name in a ledger."""


def recorded_spec(document: Mapping[str, Any]) -> AnySpec:
    """Returns the specification in a ledger's document.

    Args:
        document: `StudyRecord.spec`. Documents without `kind` are studies.

    Raises:
        UserError: the document is not a specification that this version knows.
    """
    where = "its specification"
    if document.get("kind") == "sweep":
        return validated(SweepSpec, dict(document), where)
    if document.get("kind") == "scale_check":
        return validated(ScaleCheckSpec, dict(document), where)
    if document.get("kind") == "upgrade":
        return validated(UpgradeSpec, dict(document), where)
    if document.get("kind") == "comparison":
        return validated(ComparisonSpec, dict(document), where)
    return validated(StudySpec, dict(document), where)

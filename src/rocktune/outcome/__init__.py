"""Outcomes of studies: documents that the ledger keeps, as typed models."""

from rocktune.outcome.document import (
    REMOVED_FIELDS,
    VERSION,
    Conditions,
    FrontPoint,
    Hypervolume,
    LearnedModel,
    OptionEffect,
    Outcome,
    PassedOver,
    Seconds,
)
from rocktune.outcome.proof import (
    AgedStores,
    Bound,
    StopReason,
    TailProof,
    TailSide,
    TailVerdict,
    Verification,
    WorkloadRatio,
)
from rocktune.outcome.recorded import (
    NOT_MEASURED,
    Interval,
    Protocol,
    Recorded,
)
from rocktune.outcome.scale import LARGER_FACTOR, RankedConfiguration, ScaleCheck, ScaleVerdict
from rocktune.outcome.sides import (
    Baseline,
    CacheShare,
    Memory,
    Side,
)

__all__ = [
    "LARGER_FACTOR",
    "NOT_MEASURED",
    "REMOVED_FIELDS",
    "VERSION",
    "AgedStores",
    "Baseline",
    "Bound",
    "CacheShare",
    "Conditions",
    "FrontPoint",
    "Hypervolume",
    "Interval",
    "LearnedModel",
    "Memory",
    "OptionEffect",
    "Outcome",
    "PassedOver",
    "Protocol",
    "RankedConfiguration",
    "Recorded",
    "ScaleCheck",
    "ScaleVerdict",
    "Seconds",
    "Side",
    "StopReason",
    "TailProof",
    "TailSide",
    "TailVerdict",
    "Verification",
    "WorkloadRatio",
]

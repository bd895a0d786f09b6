"""The load of a store as a workload, made of what the store shows."""

from rocktune.analysis.profile.facts import FamilyFacts, OperationCounts, RatePoint, StoreFacts
from rocktune.analysis.profile.findings import Basis, Finding, Profile
from rocktune.analysis.profile.gathering import gathered
from rocktune.analysis.profile.profiling import profiled

__all__ = [
    "Basis",
    "FamilyFacts",
    "Finding",
    "OperationCounts",
    "Profile",
    "RatePoint",
    "StoreFacts",
    "gathered",
    "profiled",
]

"""Explains LOG files of RocksDB: what held writes or reads up, and what to try."""

from rocktune.analysis.explain.explaining import Explained, Explanation, explain, explain_opening
from rocktune.analysis.explain.finding import Confidence, Evidence, Finding, Suggestion
from rocktune.analysis.explain.rules import RULES

__all__ = [
    "RULES",
    "Confidence",
    "Evidence",
    "Explained",
    "Explanation",
    "Finding",
    "Suggestion",
    "explain",
    "explain_opening",
]

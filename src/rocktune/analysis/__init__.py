"""Analyses of tables and comparisons: best runs, noise, importance and clusters of knobs, ranks of tuners."""

from rocktune.analysis.clusters import clusters_of
from rocktune.analysis.comparing import ComparedRun, compared_runs, findings_of
from rocktune.analysis.importance import explained_by_knobs, importance_of
from rocktune.analysis.screening import Screening, screened
from rocktune.analysis.summary import summary_of_table

__all__ = [
    "ComparedRun",
    "Screening",
    "clusters_of",
    "compared_runs",
    "explained_by_knobs",
    "findings_of",
    "importance_of",
    "screened",
    "summary_of_table",
]

"""Workloads as validated data, with presets from YCSB, db_bench and the five papers."""

from rocktune.workload.catalogue import load_workload, load_workload_of_one_family, workload_names
from rocktune.workload.file_text import workload_file_text
from rocktune.workload.neighbours import neighbours
from rocktune.workload.popularity import KeyPopularity, key_popularity
from rocktune.workload.skew import SKEWS, FittedSkew, zipf_popularity
from rocktune.workload.spec import DEFAULT_FAMILY, WorkloadSpec
from rocktune.workload.trace import TraceFamily, TraceSampling, TraceSpec, TraceSummary
from rocktune.workload.trace_keys import fitted_keys, key_use, skew_among
from rocktune.workload.trace_workload import trace_workload

__all__ = [
    "DEFAULT_FAMILY",
    "SKEWS",
    "FittedSkew",
    "KeyPopularity",
    "TraceFamily",
    "TraceSampling",
    "TraceSpec",
    "TraceSummary",
    "WorkloadSpec",
    "fitted_keys",
    "key_popularity",
    "key_use",
    "load_workload",
    "load_workload_of_one_family",
    "neighbours",
    "skew_among",
    "trace_workload",
    "workload_file_text",
    "workload_names",
    "zipf_popularity",
]

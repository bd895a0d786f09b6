"""Workloads as validated data, with presets from YCSB, db_bench and the five papers."""

from rocktune.workload.catalogue import load_workload, load_workload_of_one_family, workload_names
from rocktune.workload.file_text import workload_file_text
from rocktune.workload.neighbours import neighbours
from rocktune.workload.popularity import KeyPopularity, key_popularity
from rocktune.workload.spec import DEFAULT_FAMILY, WorkloadSpec

__all__ = [
    "DEFAULT_FAMILY",
    "KeyPopularity",
    "WorkloadSpec",
    "key_popularity",
    "load_workload",
    "load_workload_of_one_family",
    "neighbours",
    "workload_file_text",
    "workload_names",
]

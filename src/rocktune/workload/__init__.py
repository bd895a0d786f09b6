"""Workloads as validated data, with presets from YCSB, db_bench and the five papers."""

from rocktune.workload.catalogue import load_workload, workload_names
from rocktune.workload.spec import WorkloadSpec

__all__ = ["WorkloadSpec", "load_workload", "workload_names"]

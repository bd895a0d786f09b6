"""Workloads as plain, validated data, and the presets of YCSB and of Dremel's evaluation."""

from rocktune.workload.catalogue import load_workload, workload_names
from rocktune.workload.spec import WorkloadSpec

__all__ = ["WorkloadSpec", "load_workload", "workload_names"]

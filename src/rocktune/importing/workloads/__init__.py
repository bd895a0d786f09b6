"""Workloads from what other programs describe theirs with: YCSB's properties, db_bench's commands."""

from rocktune.importing.workloads.account import ImportedWorkload, Use, WorkloadEntry
from rocktune.importing.workloads.db_bench import from_db_bench
from rocktune.importing.workloads.ycsb import from_ycsb

__all__ = ["ImportedWorkload", "Use", "WorkloadEntry", "from_db_bench", "from_ycsb"]

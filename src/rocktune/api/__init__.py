"""Everything that rocktune can do, as functions that return plain data. The command line calls only these."""

from rocktune.api.applying import apply_options, plan_options
from rocktune.api.catalogue import (
    list_devices,
    list_engines,
    list_rocksdb,
    list_spaces,
    list_tuners,
    list_workloads,
)
from rocktune.api.clusters import clusters
from rocktune.api.comparing import compare, estimate_comparison, prepare_comparison
from rocktune.api.devices import measure_device, prepare_device_measurement
from rocktune.api.driving import drive
from rocktune.api.explaining import explain_log, explanation_json
from rocktune.api.flsm import flsm_shape, simulate_flsm
from rocktune.api.governing import estimate_govern, govern
from rocktune.api.importance import importance
from rocktune.api.ledgers import check_ledger, copy_ledger
from rocktune.api.logs import log_csv, log_json, read_log
from rocktune.api.machine import clean, doctor
from rocktune.api.migrating import copy_with_options, rewrite_with_options
from rocktune.api.profiling import profile, profile_json
from rocktune.api.running import run
from rocktune.api.scaling import check_scale, prepare_scale_check
from rocktune.api.studies import delete, export, report, show, studies
from rocktune.api.sweeping import estimate_sweep, prepare_sweep, sweep, write_recorded
from rocktune.api.traces import imported_workload, trace_info, write_trace_workload
from rocktune.api.tradeoff import estimate_map, map_flsm
from rocktune.api.tuning import estimate, prepare, resume, tune, verify
from rocktune.api.upgrading import prepare_upgrade, upgrade
from rocktune.api.watching import watch, watch_journal, watch_json
from rocktune.api.workloads import workload_from_db_bench, workload_from_ycsb, workload_json
from rocktune.outcome import Outcome

__all__ = [
    "Outcome",
    "apply_options",
    "check_ledger",
    "check_scale",
    "clean",
    "clusters",
    "compare",
    "copy_ledger",
    "copy_with_options",
    "delete",
    "doctor",
    "drive",
    "estimate",
    "estimate_comparison",
    "estimate_govern",
    "estimate_map",
    "estimate_sweep",
    "explain_log",
    "explanation_json",
    "export",
    "flsm_shape",
    "govern",
    "importance",
    "imported_workload",
    "list_devices",
    "list_engines",
    "list_rocksdb",
    "list_spaces",
    "list_tuners",
    "list_workloads",
    "log_csv",
    "log_json",
    "map_flsm",
    "measure_device",
    "plan_options",
    "prepare",
    "prepare_comparison",
    "prepare_device_measurement",
    "prepare_scale_check",
    "prepare_sweep",
    "prepare_upgrade",
    "profile",
    "profile_json",
    "read_log",
    "report",
    "resume",
    "rewrite_with_options",
    "run",
    "show",
    "simulate_flsm",
    "studies",
    "sweep",
    "trace_info",
    "tune",
    "upgrade",
    "verify",
    "watch",
    "watch_journal",
    "watch_json",
    "workload_from_db_bench",
    "workload_from_ycsb",
    "workload_json",
    "write_recorded",
    "write_trace_workload",
]

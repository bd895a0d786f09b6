"""Engines: the systems under test, behind one protocol that opens, advances, parks and closes runs."""

from rocktune.engine.base import Engine, Progress, Run, RunFailed
from rocktune.engine.blob_files import FamilyBlobs
from rocktune.engine.checker import OptionsChecker
from rocktune.engine.command.engine import CommandEngine, command_lines
from rocktune.engine.db_bench import DbBenchEngine, refuse_inexpressible
from rocktune.engine.device_measurement import MeasuredDevice, MeasureRequest, measured_device
from rocktune.engine.embedded.engine import EmbeddedEngine
from rocktune.engine.embedded.run import EmbeddedRun
from rocktune.engine.local.bases import clean_data
from rocktune.engine.local.data_directory import DataDirectory, default_data_directory
from rocktune.engine.options import run_options
from rocktune.engine.recorded import RecordedEngine
from rocktune.engine.recorded.engine import table_digest
from rocktune.engine.spec import (
    CommandSpec,
    DbBenchSpec,
    EmbeddedSpec,
    EngineSpec,
    RecordedSpec,
    VersionsSpec,
)
from rocktune.engine.store_migration import FamilyContent, StoreMigration
from rocktune.engine.store_tables import FamilyTables, StoreTables, read_store_tables
from rocktune.engine.traces import DEFAULT_SCAN_LENGTH, import_trace, sample_trace
from rocktune.engine.versions import VersionsEngine
from rocktune.engine.worker import find_worker

__all__ = [
    "DEFAULT_SCAN_LENGTH",
    "CommandEngine",
    "CommandSpec",
    "DataDirectory",
    "DbBenchEngine",
    "DbBenchSpec",
    "EmbeddedEngine",
    "EmbeddedRun",
    "EmbeddedSpec",
    "Engine",
    "EngineSpec",
    "FamilyBlobs",
    "FamilyContent",
    "FamilyTables",
    "MeasureRequest",
    "MeasuredDevice",
    "OptionsChecker",
    "Progress",
    "RecordedEngine",
    "RecordedSpec",
    "Run",
    "RunFailed",
    "StoreMigration",
    "StoreTables",
    "VersionsEngine",
    "VersionsSpec",
    "clean_data",
    "command_lines",
    "default_data_directory",
    "find_worker",
    "import_trace",
    "measured_device",
    "read_store_tables",
    "refuse_inexpressible",
    "run_options",
    "sample_trace",
    "table_digest",
]

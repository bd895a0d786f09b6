"""Workload presets, and workloads from TOML files."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rocktune.errors import UserError, unknown_name
from rocktune.spec_file import is_file_name, read_toml, validated
from rocktune.workload.alabed import alabed_workloads
from rocktune.workload.db_bench import db_bench_workloads
from rocktune.workload.dremel_settings import dremel_workloads
from rocktune.workload.jia_chen import jia_chen_workloads
from rocktune.workload.queues import queue_workloads
from rocktune.workload.ruskey import ruskey_workloads
from rocktune.workload.spec import WorkloadSpec
from rocktune.workload.warlo import warlo_workloads
from rocktune.workload.ycsb import ycsb_workloads


def _by_name(*collections: Iterable[tuple[str, WorkloadSpec]]) -> dict[str, tuple[str, WorkloadSpec]]:
    """Returns the (summary, workload) pairs of all collections by the workload's name."""
    return {spec.name: (summary, spec) for collection in collections for summary, spec in collection}


_PRESETS = _by_name(
    ycsb_workloads(),
    db_bench_workloads(),
    dremel_workloads(),
    jia_chen_workloads(),
    alabed_workloads(),
    warlo_workloads(),
    ruskey_workloads(),
    queue_workloads(),
)


def workload_names() -> dict[str, str]:
    """Returns the presets' names, each with a description in one line."""
    return {name: summary for name, (summary, _) in _PRESETS.items()}


def load_workload(name_or_path: str) -> WorkloadSpec:
    """Returns a preset by its name, or the workload that a TOML file describes.

    A file has the fields of WorkloadSpec. `mix` and `arrival` may take the place of `sessions`; they make one
    session without an end, and neither is needed if each of the families has a mix. A whole number for
    `value`, `scan_length` or `delete_range_keys` means a fixed size. The path of a trace is relative to the
    file. The default of `name` is the file's name without its extension.

    Raises:
        UserError: there is no such preset, or the file is missing or invalid.
    """
    if name_or_path in _PRESETS:
        return _PRESETS[name_or_path][1]
    if not is_file_name(name_or_path):
        raise unknown_name("workload", name_or_path, _PRESETS)
    path = Path(name_or_path)
    document = {"name": path.stem} | read_toml(path)
    trace = document.get("trace")
    if isinstance(trace, dict) and isinstance(trace.get("path"), str):
        document["trace"] = trace | {"path": str((path.parent / trace["path"]).absolute())}
    return validated(WorkloadSpec, _written_out(document, name_or_path), name_or_path)


def load_workload_of_one_family(name_or_path: str, command: str) -> WorkloadSpec:
    """Returns a workload as `load_workload` does, for a command that loads the default column family alone.

    Raises:
        UserError: see `load_workload`; or the workload has column families.
    """
    workload = load_workload(name_or_path)
    if workload.families:
        raise UserError(
            f"workload '{workload.name}': '{command}' loads one column family, and the workload has "
            f"{', '.join(workload.family_names)}; 'run', 'tune' and 'sweep' load several"
        )
    return workload


def _written_out(document: dict[str, Any], where: str) -> dict[str, Any]:
    """Returns a TOML file's document with its short forms (see `load_workload`) written out.

    Raises:
        UserError: the document has no mix, or has both sessions and a mix or arrival.
    """
    result = dict(document)
    session = {name: result.pop(name) for name in ("mix", "arrival") if name in result}
    if session and "sessions" in result:
        raise UserError(
            f"{where}: give either sessions or {' and '.join(session)} for a single one, not both"
        )
    if "mix" not in session and "sessions" not in result and not result.get("families"):
        raise UserError(f"{where}: mix: missing; write the shares of operations, such as mix = {{get = 1.0}}")
    if "sessions" not in result:
        result["sessions"] = [session]
    for name in ("families", "sessions"):
        if isinstance(result.get(name), list):
            result[name] = _tables_with_sizes(result[name])
    return _with_sizes(result)


def _with_sizes(table: dict[str, Any]) -> dict[str, Any]:
    """Returns a table of a workload file with whole numbers for sizes written out, and so in its families."""
    sizes = {
        name: {"kind": "fixed", "low": table[name]}
        for name in ("value", "scan_length", "delete_range_keys")
        if type(table.get(name)) is int  # not isinstance, because a TOML boolean is an int in Python
    }
    families = table.get("families")
    inner = {"families": _tables_with_sizes(families)} if isinstance(families, list) else {}
    return table | inner | sizes


def _tables_with_sizes(tables: list[Any]) -> list[Any]:
    """Returns a list of tables as `_with_sizes` does; what is no table stays, and validation names it."""
    return [_with_sizes(table) if isinstance(table, dict) else table for table in tables]

"""The workloads that have names, and workloads from TOML files."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rocktune.errors import UserError, unknown_name
from rocktune.spec_file import is_file_name, read_toml, validated
from rocktune.workload.alabed import alabed_workloads
from rocktune.workload.db_bench import db_bench_workloads
from rocktune.workload.dremel_settings import dremel_workloads
from rocktune.workload.jia_chen import jia_chen_workloads
from rocktune.workload.ruskey import ruskey_workloads
from rocktune.workload.spec import WorkloadSpec
from rocktune.workload.warlo import warlo_workloads
from rocktune.workload.ycsb import ycsb_workloads


def _by_name(*collections: Iterable[tuple[str, WorkloadSpec]]) -> dict[str, tuple[str, WorkloadSpec]]:
    return {spec.name: (summary, spec) for collection in collections for summary, spec in collection}


_PRESETS = _by_name(
    ycsb_workloads(),
    db_bench_workloads(),
    dremel_workloads(),
    jia_chen_workloads(),
    alabed_workloads(),
    warlo_workloads(),
    ruskey_workloads(),
)


def workload_names() -> dict[str, str]:
    """Returns the presets' names, each with what it is in one line."""
    return {name: summary for name, (summary, _) in _PRESETS.items()}


def load_workload(name_or_path: str) -> WorkloadSpec:
    """Returns a preset by its name, or the workload that a TOML file describes.

    A file's fields are WorkloadSpec's. Instead of `sessions` it may have `mix` and `arrival`, one session
    for ever; a whole number for `value` or `scan_length` is a fixed size; the name, unless given, is the
    file's without the ending.

    Raises:
        UserError: there is no such preset, or the file is missing, malformed or wrong.
    """
    if name_or_path in _PRESETS:
        return _PRESETS[name_or_path][1]
    if not is_file_name(name_or_path):
        raise unknown_name("workload", name_or_path, _PRESETS)
    path = Path(name_or_path)
    document = {"name": path.stem} | read_toml(path)
    return validated(WorkloadSpec, _written_out(document, name_or_path), name_or_path)


def _written_out(document: dict[str, Any], where: str) -> dict[str, Any]:
    """Replaces what a TOML file may say more briefly by what it stands for."""
    result = dict(document)
    session = {name: result.pop(name) for name in ("mix", "arrival") if name in result}
    if session and "sessions" in result:
        raise UserError(
            f"{where}: give either sessions or {' and '.join(session)} for a single one, not both"
        )
    if "mix" not in session and "sessions" not in result:
        raise UserError(f"{where}: mix: missing; write the shares of operations, such as mix = {{get = 1.0}}")
    if session:
        result["sessions"] = [session]
    for name in ("value", "scan_length"):
        if type(result.get(name)) is int:
            result[name] = {"kind": "fixed", "low": result[name]}
    return result

"""Workloads as the text of TOML files."""

from typing import Any

import tomli_w

from rocktune.workload.spec import WorkloadSpec


def workload_file_text(workload: WorkloadSpec) -> str:
    """Returns the text of a TOML file that `load_workload` reads as this workload.

    It has the file's short forms, and no field that has its default.
    """
    document = _short(workload.model_dump(mode="json", exclude_defaults=True))
    sessions = document["sessions"]
    if len(sessions) == 1 and sessions[0].keys() <= {"mix", "arrival"}:
        document |= document.pop("sessions")[0]
        # Simple values must precede tables.
        document = dict(sorted(document.items(), key=lambda item: isinstance(item[1], dict | list)))
    return tomli_w.dumps(document)


def _short(value: Any) -> Any:
    """Returns data with fixed sizes as whole numbers."""
    if isinstance(value, list):
        return [_short(each) for each in value]
    if not isinstance(value, dict):
        return value
    made = {name: _short(inner) for name, inner in value.items()}
    for name in ("value", "scan_length", "delete_range_keys"):
        size = made.get(name)
        if isinstance(size, dict) and size.keys() <= {"low"}:
            made[name] = size.get("low", 0)
    return made

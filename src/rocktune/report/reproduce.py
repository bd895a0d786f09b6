"""How to do a study again: its command line, and the facts that figures depend on."""

import shlex
from collections.abc import Mapping
from typing import Any

from rocktune.device import device_names
from rocktune.ledger import StudyRecord
from rocktune.space import space_names
from rocktune.spec_file import is_file_name
from rocktune.units import format_bytes, format_scale, format_seconds, parse_bytes
from rocktune.workload import workload_names

Argument = tuple[str, str | bool]
"""An option and its value; True for one without a value, and nothing is written for one that is empty."""

_PRESETS = {"workload": workload_names, "device": device_names, "space": space_names}


def _as_given(name: str, presets: Mapping[str, str]) -> str:
    """Returns a preset's name or a file's, and for any other name the file that it must have come from."""
    return name if name in presets or is_file_name(name) or not name else f"{name}.toml"


def named(part: Any) -> str:
    """Returns the name of a workload, device, space or tuner that may be given by name or whole."""
    return str(part.get("name", "")) if isinstance(part, Mapping) else str(part)


def command_lines(study: StudyRecord, outcome: Mapping[str, Any]) -> list[str]:
    """Returns the command that repeats the study under a new name."""
    spec = study.spec
    engine = spec.get("engine") or {}
    arguments = [*_conditions(spec, outcome), *_engine(engine)]
    arguments.append(("--tuner", named(spec.get("tuner", outcome.get("tuner", "")))))
    arguments += [
        *(("--objective", field) for field in str(outcome.get("objective", "")).split(", ")),
        *(("--constraint", text) for text in outcome.get("constraints") or ()),
        ("--budget", f"{spec['budget_s']:g}s" if spec.get("budget_s") else ""),
        ("--seed", str(outcome.get("seed", ""))),
        ("--study", f"{study.name}-again"),
    ]
    given = [
        name if value is True else f"{name} {shlex.quote(str(value))}" for name, value in arguments if value
    ]
    tune = "rocktune tune STUDY.toml" if engine.get("kind") == "command" else "rocktune tune"
    return [f"{tune} \\", *(f"    {argument} \\" for argument in given[:-1]), f"    {given[-1]}"]


def _conditions(spec: Mapping[str, Any], outcome: Mapping[str, Any]) -> list[Argument]:
    """Returns what is measured; a table says all of it itself."""
    if (spec.get("engine") or {}).get("kind") == "recorded":
        return []
    return [
        *(
            (f"--{part}", _as_given(named(spec.get(part, outcome.get(part, ""))), presets()))
            for part, presets in _PRESETS.items()
        ),
        ("--scale", _scale_text(spec, outcome)),
        ("--memory", _exact_size(spec["memory_bytes"]) if spec.get("memory_bytes") else ""),
        ("--options-file", "OPTIONS" if spec.get("base_options") else ""),
    ]


def _engine(engine: Mapping[str, Any]) -> list[Argument]:
    if engine.get("kind", "embedded") == "embedded":
        return []
    return [
        ("--engine", engine["kind"]),
        ("--db-bench", str(engine.get("program", ""))),
        ("--table", str(engine.get("table", ""))),
        ("--interpolate", bool(engine.get("interpolate"))),
    ]


def _exact_size(count: int) -> str:
    written = format_bytes(count)
    return written if parse_bytes(written) == count else str(count)


def command_line(study: StudyRecord, outcome: Mapping[str, Any]) -> str:
    """Returns the same command on one line."""
    return " ".join(line.strip().removesuffix(" \\") for line in command_lines(study, outcome))


def facts(study: StudyRecord, outcome: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns (what, value) for everything that the figures depend on, in the order of reading."""
    spec = study.spec
    seconds = outcome.get("seconds") or {}
    phases = ", ".join(
        f"{name} {format_seconds(value)}" for name, value in seconds.items() if name != "total" and value
    )
    rows = [
        ("Study", study.name),
        ("Begun", study.created_at.strftime("%Y-%m-%d %H:%M UTC")),
        ("Host", study.host),
        ("Engine", str(outcome.get("engine", ""))),
        ("Workload", named(spec.get("workload", outcome.get("workload", "")))),
        ("Device", named(spec.get("device", outcome.get("device", "")))),
        ("Space", named(spec.get("space", outcome.get("space", "")))),
        ("Tuner", named(spec.get("tuner", outcome.get("tuner", "")))),
        ("Seed", str(outcome.get("seed", ""))),
        ("Scale of the search", _scale_text(spec, outcome)),
        ("Scale of the proof", str(outcome.get("verified_at_scale") or "")),
        ("Memory budget", format_bytes(spec["memory_bytes"]) if spec.get("memory_bytes") else ""),
        ("Time", format_seconds(seconds["total"]) + f" ({phases})" if seconds.get("total") else ""),
        ("Ledger", str(outcome.get("ledger", ""))),
    ]
    return [(name, value) for name, value in rows if value]


def _scale_text(spec: Mapping[str, Any], outcome: Mapping[str, Any]) -> str:
    return str(outcome.get("search_scale") or format_scale(int(spec.get("scale", 1))))

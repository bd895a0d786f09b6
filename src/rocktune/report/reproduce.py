"""How to do a study again: its command line, and the facts that figures depend on."""

import shlex
from collections.abc import Mapping
from typing import Any

from rocktune.device import device_names
from rocktune.ledger import StudyRecord
from rocktune.outcome import Outcome
from rocktune.space import space_names
from rocktune.spec_file import is_file_name
from rocktune.units import format_bytes, format_seconds, parse_bytes
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


def command_lines(study: StudyRecord, outcome: Outcome) -> list[str]:
    """Returns the command that repeats the study under a new name."""
    spec = study.spec
    engine = spec.get("engine") or {}
    arguments = [*_conditions(spec, outcome), *_engine(engine)]
    arguments.append(("--tuner", named(spec.get("tuner", outcome.tuner))))
    arguments += [
        *(("--objective", field) for field in outcome.objective.split(", ")),
        *(("--constraint", text) for text in outcome.constraints),
        ("--budget", f"{spec['budget_s']:g}s" if spec.get("budget_s") else ""),
        ("--seed", str(outcome.seed)),
        ("--study", f"{study.name}-again"),
    ]
    given = [
        name if value is True else f"{name} {shlex.quote(str(value))}" for name, value in arguments if value
    ]
    tune = "rocktune tune STUDY.toml" if engine.get("kind") == "command" else "rocktune tune"
    return [f"{tune} \\", *(f"    {argument} \\" for argument in given[:-1]), f"    {given[-1]}"]


def _conditions(spec: Mapping[str, Any], outcome: Outcome) -> list[Argument]:
    """Returns what is measured; a table says all of it itself."""
    if (spec.get("engine") or {}).get("kind") == "recorded":
        return []
    return [
        *(
            (f"--{part}", _as_given(named(spec.get(part, getattr(outcome, part))), presets()))
            for part, presets in _PRESETS.items()
        ),
        ("--scale", outcome.search_scale),
        ("--memory", _exact_size(spec["memory_bytes"]) if spec.get("memory_bytes") else ""),
        ("--options-file", "OPTIONS" if spec.get("base_options") else ""),
        ("--column-family", _family(spec.get("own_terms") or {})),
    ]


def _family(terms: Mapping[str, Any]) -> str:
    """Returns the measured column family, if the OPTIONS file has others."""
    return str(terms["family"]) if terms.get("other_families") else ""


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


def command_line(study: StudyRecord, outcome: Outcome) -> str:
    """Returns the same command on one line."""
    return " ".join(line.strip().removesuffix(" \\") for line in command_lines(study, outcome))


def facts(study: StudyRecord, outcome: Outcome) -> list[tuple[str, str]]:
    """Returns (what, value) for everything that the figures depend on, in the order of reading."""
    spec = study.spec
    total_s = outcome.seconds.total
    phases = ", ".join(
        f"{name} {format_seconds(value)}" for name, value in outcome.seconds if name != "total" and value
    )
    rows = [
        ("Study", study.name),
        ("Begun", study.created_at.strftime("%Y-%m-%d %H:%M UTC")),
        ("Host", study.host),
        ("Engine", outcome.engine),
        ("Workload", named(spec.get("workload", outcome.workload))),
        ("Device", named(spec.get("device", outcome.device))),
        ("Space", named(spec.get("space", outcome.space))),
        ("Tuner", named(spec.get("tuner", outcome.tuner))),
        ("Seed", str(outcome.seed)),
        ("Scale of the search", outcome.search_scale),
        ("Scale of the proof", outcome.verified_at_scale or ""),
        ("Memory budget", format_bytes(spec["memory_bytes"]) if spec.get("memory_bytes") else ""),
        ("Time", f"{format_seconds(total_s)} ({phases})" if total_s else ""),
        ("Ledger", outcome.ledger),
    ]
    return [(name, value) for name, value in rows if value]

"""How to reproduce a study: its command line, and the facts that its figures depend on."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from rocktune.constraint import NO_DEFAULTS
from rocktune.device import device_names
from rocktune.ledger import StudyRecord
from rocktune.outcome import LARGER_FACTOR, Outcome
from rocktune.report.findings import primary_field
from rocktune.space import space_names
from rocktune.spec_file import is_file_name
from rocktune.study.specs.spec import VerificationSettings, current_names
from rocktune.trial import FIGURES
from rocktune.units import format_bytes, format_decimal, format_seconds, parse_bytes
from rocktune.workload import workload_names

Argument = tuple[str, str | bool]
"""An option and its value. True means an option without a value; an empty value leaves the option out."""

_PRESETS = {"workload": workload_names, "device": device_names, "space": space_names}


def _as_given(name: str, presets: Mapping[str, str]) -> str:
    """Returns the name of a preset or file; any other name becomes that of the file it was read from."""
    return name if name in presets or is_file_name(name) or not name else f"{name}.toml"


def named(part: Any) -> str:
    """Returns the name of a workload, device, space or tuner that is a name or a whole document."""
    return str(part.get("name", "")) if isinstance(part, Mapping) else str(part)


def command_lines(study: StudyRecord, outcome: Outcome) -> list[str]:
    """Returns the command that repeats the study under a new name, one option per line."""
    spec = study.spec
    engine = spec.get("engine") or {}
    arguments = [*_conditions(spec, outcome), *_engine(engine)]
    arguments.append(("--tuner", named(spec.get("tuner", outcome.tuner))))
    if engine.get("kind", "embedded") == "embedded":
        arguments.append(("--protocol", outcome.protocol))
        arguments.append(("--rate", _number(spec.get("rate_ops_s"))))
    arguments += [
        *(("--objective", field) for field in outcome.objective.split(", ")),
        *(("--constraint", text) for text in outcome.constraints),
        # Also correct where the constraints replace all defaults.
        ("--constraint", "" if outcome.default_constraints or outcome.protocol != "steady" else NO_DEFAULTS),
        ("--robust", _number(spec.get("robust"))),
        *(("--try", each["file"]) for each in spec.get("tried", ()) if each.get("file")),
        ("--warm-start", any(each.get("study") for each in spec.get("tried", ()))),
        ("--prices", "PRICES.toml" if outcome.prices is not None else ""),
        ("--budget", f"{_number(spec['budget_s'])}s" if spec.get("budget_s") else ""),
        ("--pairs", str((spec.get("verification") or {}).get("pairs") or "")),
        ("--seed", str(outcome.seed)),
        ("--study", f"{study.name}-again"),
    ]
    given = _written(arguments)
    tune = "rocktune tune STUDY.toml" if _needs_file(spec) else "rocktune tune"
    return [f"{tune} \\", *(f"    {argument} \\" for argument in given[:-1]), f"    {given[-1]}"]


def _needs_file(spec: Mapping[str, Any]) -> bool:
    """Returns whether a study has settings that only a study file can hold."""
    usual = VerificationSettings().model_dump(mode="json")
    changed = any(
        value != usual.get(name, value)
        for name, value in current_names(dict(spec.get("verification") or {})).items()
        if name != "pairs"
    )
    is_own_program = (spec.get("engine") or {}).get("kind") == "command"
    return is_own_program or changed or bool(spec.get("tuner_settings"))


def check_command_line(study: StudyRecord, outcome: Outcome) -> str | None:
    """Returns the command that checks how well a study's model ranks; None if there is no larger model."""
    spec = study.spec
    kind = (spec.get("engine") or {}).get("kind", "embedded")
    # Models are compared by a measured figure, which neither a cost nor a weighted sum is.
    if primary_field(outcome) not in FIGURES:
        return None
    if kind not in ("embedded", "db_bench") or int(outcome.search_scale.rpartition("/")[2]) % LARGER_FACTOR:
        return None
    arguments = [
        *_conditions(spec, outcome),
        *_engine(spec.get("engine") or {}),
        ("--protocol", outcome.protocol if kind == "embedded" else ""),
        ("--objective", primary_field(outcome)),
    ]
    return " ".join(["rocktune check-scale", *_written(arguments)])


def _written(arguments: Sequence[Argument]) -> list[str]:
    """Returns options as a shell takes them."""
    return [
        name if value is True else f"{name} {shlex.quote(str(value))}" for name, value in arguments if value
    ]


def _conditions(spec: Mapping[str, Any], outcome: Outcome) -> list[Argument]:
    """Returns the options for what is measured; none for a recorded table, which has all of it."""
    # The table fixes workload, device, space and scale.
    if (spec.get("engine") or {}).get("kind") == "recorded":
        return []
    return [
        *(
            (f"--{part}", _as_given(named(spec.get(part, getattr(outcome, part))), presets()))
            for part, presets in _PRESETS.items()
        ),
        ("--scale", outcome.search_scale),
        ("--memory", _exact_size(spec["memory_bytes"]) if spec.get("memory_bytes") else ""),
        # The path of the user's file is not recorded; the reader puts in their own.
        ("--options-file", "OPTIONS" if spec.get("base_options") else ""),
        *_own_cache(spec),
        *_families(spec),
    ]


def _own_cache(spec: Mapping[str, Any]) -> list[Argument]:
    """Returns the options for the block cache that the user's OPTIONS file lacks."""
    terms, table = spec.get("own_terms") or {}, (spec.get("base_options") or {}).get("table", {})
    asked = table.get("block_cache", "") if terms.get("cache") == "asked" else ""
    return [("--block-cache", asked), ("--shared-cache", bool(terms.get("shared_cache")))]


def _families(spec: Mapping[str, Any]) -> list[Argument]:
    """Returns the options for the tuned column family, or for all of the workload's together."""
    terms, workload = spec.get("own_terms") or {}, spec.get("workload") or {}
    family = spec.get("column_family") or (terms["family"] if terms.get("other_families") else "")
    together = isinstance(workload, Mapping) and bool(workload.get("families")) and not family
    return [("--column-family", family), ("--all-families", together)]


def _engine(engine: Mapping[str, Any]) -> list[Argument]:
    """Returns the options for the engine; none for the default one."""
    if engine.get("kind", "embedded") == "embedded":
        return [("--rocksdb", engine.get("rocksdb") or "")]
    return [
        ("--engine", engine["kind"]),
        ("--db-bench", str(engine.get("program", ""))),
        ("--table", str(engine.get("table", ""))),
        ("--interpolate", bool(engine.get("interpolate"))),
    ]


def _number(value: float | None) -> str:
    """Returns the text of a number that a command line takes; "" for None."""
    return "" if value is None else format_decimal(value)


def _exact_size(count: int) -> str:
    """Returns a size with its unit, or in bytes if the unit would round it."""
    written = format_bytes(count)
    # format_bytes rounds, and a rounded budget would be another study.
    return written if parse_bytes(written) == count else str(count)


def command_line(study: StudyRecord, outcome: Outcome) -> str:
    """Returns the command that repeats the study under a new name, on one line."""
    return " ".join(line.strip().removesuffix(" \\") for line in command_lines(study, outcome))


def facts(study: StudyRecord, outcome: Outcome) -> list[tuple[str, str]]:
    """Returns names and values of everything that the figures depend on, in the order of reading."""
    spec = study.spec
    total_s = outcome.seconds.total
    phases = ", ".join(
        f"{name} {format_seconds(value)}" for name, value in outcome.seconds if name != "total" and value
    )
    rows = [
        ("Study", study.name),
        ("Started", study.created_at.strftime("%Y-%m-%d %H:%M UTC")),
        ("Host", study.host),
        ("Engine", outcome.engine),
        ("File system", outcome.file_system),
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

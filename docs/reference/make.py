"""Writes the reference from the code: `python docs/reference/make.py [DIRECTORY]`. A test compares."""

import json
import re
import sys
from collections.abc import Iterable, Mapping
from inspect import cleandoc
from pathlib import Path
from typing import Any

import typer.main
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from typer.cli import get_docs_for_click

import rocktune.cli.main  # noqa: F401 -- registers every command
from rocktune import api, outcome
from rocktune.cli.app import app
from rocktune.cost import COST, Prices
from rocktune.device import DeviceSpec
from rocktune.engine import CommandSpec
from rocktune.engine.spec import MetricSpec
from rocktune.importing.history import default_changes, meaning_changes
from rocktune.importing.history.stores import store_changes
from rocktune.objective import LARGER_IS_BETTER
from rocktune.options_account import AccountEntry, ChangedDefault, OptionsAccount
from rocktune.report.findings import field_label, field_unit
from rocktune.rocksdb_version import RocksDbVersion
from rocktune.space import CATALOGUE
from rocktune.spec_file import Spec
from rocktune.study import StudyRequest, VerificationSettings
from rocktune.trial import FIGURES
from rocktune.tuners import tuner_named, tuner_names
from rocktune.workload import WorkloadSpec
from rocktune.workload.arrival import ArrivalSpec
from rocktune.workload.distributions import KeyChooserSpec, SizeSpec
from rocktune.workload.spec import MixSpec, PreloadSpec, SessionSpec

HEAD = "<!-- Written by docs/reference/make.py; do not edit. -->\n\n"


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Returns a table."""
    heads = list(heads)
    lines = [" | ".join(heads), " | ".join("---" for _ in heads)]
    lines += [" | ".join(cell.replace("|", "\\|") for cell in row) for row in rows]
    return "".join(f"| {line} |\n" for line in lines)


def meanings(model: type[BaseModel]) -> dict[str, str]:
    """Returns what the docstrings of a model and its bases say of each of its fields."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel):
            found |= _own_meanings(base)
    return found


def _own_meanings(model: type[BaseModel]) -> dict[str, str]:
    text = cleandoc(model.__doc__ or "")
    _, _, attributes = text.partition("Attributes:\n")
    found: dict[str, str] = {}
    name = ""
    for line in attributes.splitlines():
        if match := re.match(r"    (\w+): (.*)", line):
            name = match[1]
            found[name] = match[2]
        elif name and line.startswith("     "):
            found[name] += " " + line.strip()
        else:
            break
    return found


def default_of(field: FieldInfo) -> str:
    """Returns how a field's default is written in TOML."""
    value = field.default
    if value is PydanticUndefined:
        return "must be given"
    if value is None:
        return "none"
    if isinstance(value, Spec):
        return "its own defaults"
    return f"`{str(value).lower() if isinstance(value, bool) else repr(value)}`"


def summary(model: type[BaseModel]) -> str:
    """Returns what a model's docstring says of it as a whole."""
    return cleandoc(model.__doc__ or "").partition("\n\nAttributes:")[0]


def fields(title: str, model: type[Spec]) -> str:
    """Returns a section on a spec: its summary and its fields."""
    said = meanings(model)
    rows = [
        (f"`{name}`", default_of(field), said.get(name, ""))
        for name, field in model.model_fields.items()
        if name != "kind" or "kind" in said
    ]
    return f"## {title}\n\n{summary(model)}\n\n{table(('field', 'default', 'meaning'), rows)}\n"


def names(title: str, listed: Mapping[str, str]) -> str:
    """Returns a section on what can be named."""
    rows = [(f"`{name}`", summary) for name, summary in listed.items()]
    return f"## {title}\n\n{table(('name', 'what it is'), rows)}\n"


def study_file() -> str:
    """Returns the page on a study's TOML file."""
    page = "# A study's file\n\nWhat `rocktune tune STUDY.toml` reads; the command line comes first.\n\n"
    page += fields("The study", StudyRequest) + fields("`[verification]`", VerificationSettings)
    page += fields("The file that `prices` names", Prices)
    page += fields("`[command]`, for engine `command`", CommandSpec)
    page += fields("`[command.metrics.FIGURE]`", MetricSpec)
    for name in tuner_names():
        settings = tuner_named(name).settings_type
        if settings.model_fields:
            page += fields(f"`[tuner_settings]` of tuner `{name}`", settings)
    return page + names("Engines", api.list_engines()) + names("Tuners", api.list_tuners())


def workload_file() -> str:
    """Returns the page on workloads and devices."""
    page = "# Workload and device files\n\n"
    page += fields("A workload", WorkloadSpec)
    for title, model in (
        ("`[[sessions]]`", SessionSpec),
        ("`mix`", MixSpec),
        ("`arrival`", ArrivalSpec),
        ("`[key_chooser]`", KeyChooserSpec),
        ("`[value]`, `[scan_length]` and `[delete_range_keys]`", SizeSpec),
        ("`[preload]`", PreloadSpec),
    ):
        page += fields(title, model)
    page += names("Workloads that have names", api.list_workloads())
    return page + fields("A device", DeviceSpec) + names("Devices that have names", api.list_devices())


def options() -> str:
    """Returns the page on RocksDB's options that rocktune knows."""
    rows = [
        (f"`{knob.name}`", knob.unit or "switch", f"`{knob.shown(knob.default)}`", knob.acts_on, knob.effect)
        for knob in CATALOGUE.values()
    ]
    heads = ("option", "unit", "RocksDB 7.8's default", "acts on", "effect")
    return f"# Options\n\n{table(heads, rows)}\n" + names("Spaces that have names", api.list_spaces())


def figures() -> str:
    """Returns the page on a measurement's figures."""
    rows = [
        (f"`{name}`", field_label(name), field_unit(name), ("smaller", "larger")[name in LARGER_IS_BETTER])
        for name in (*FIGURES, COST)
    ]
    heads = ("name", "what", "unit", "better")
    which = "[Goals](../goals.md) says which to take."
    return f"# Figures\n\nWhat objectives and metrics name. {which}\n\n{table(heads, rows)}"


def rocksdb_changes() -> str:
    """Returns the page on what changes between RocksDB's releases, the newest first."""
    page = (
        "# Changes of RocksDB's options\n\nThe changes of RocksDB 4.3 to 11.8 that `rocktune upgrade` knows. "
        "`history N` is the entry of release N in RocksDB's own release history. A test compares the "
        "defaults with those of each installed RocksDB.\n\n"
    )
    defaults: list[tuple[str, ...]] = [
        (each.since, f"`{each.path}`", f"`{each.before}`", f"`{each.after}`", each.note, each.source)
        for each in default_changes()
    ]
    changed: list[tuple[str, ...]] = [
        (each.since, f"`{each.path}`" + (", left out" if each.absent else ""), each.note, each.source)
        for each in meaning_changes()
    ]
    effects = [
        (
            f"`{each.option}` becomes `{each.value}`" if each.option else f"RocksDB {each.since}",
            each.effect,
            each.back,
            each.source,
        )
        for each in store_changes()
    ]
    default_heads = ("since", "option", "old default", "new default", "what it means", "source")
    effect_heads = ("because of", "effect on the store's data", "on the way back", "source")
    page += f"## Defaults\n\n{table(default_heads, _newest_first(defaults))}\n"
    page += (
        f"## Meanings\n\n{table(('since', 'option', 'what holds now', 'source'), _newest_first(changed))}\n"
    )
    return page + f"## Data\n\n{table(effect_heads, effects)}"


def _newest_first(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Returns rows that begin with a release line, the newest first."""
    return sorted(rows, key=lambda row: RocksDbVersion.of(row[0]), reverse=True)


OUTCOME_PARTS: dict[str, type[BaseModel]] = {
    "A side: `best`, `rocksdb_defaults`": outcome.Side,
    "`baseline`": outcome.Baseline,
    "An interval": outcome.Interval,
    "`memory`": outcome.Memory,
    "`block_cache`": outcome.CacheShare,
    "A point: of `front`, or `nearest_miss`": outcome.FrontPoint,
    "An entry of `passed_over`": outcome.PassedOver,
    "An entry of `options_that_matter`": outcome.OptionEffect,
    "An entry of `verifications`": outcome.Verification,
    "An entry of `bounds`": outcome.Bound,
    "An entry of `workloads`": outcome.WorkloadRatio,
    "`tail`": outcome.TailProof,
    "A side of `tail`": outcome.TailSide,
    "An entry of `aged`": outcome.AgedStores,
    "`hypervolume`": outcome.Hypervolume,
    "An entry of `models`": outcome.LearnedModel,
    "`seconds`": outcome.Seconds,
    "`scale_check`, and the result of `check-scale`": outcome.ScaleCheck,
    "An entry of its `foremost`": outcome.RankedConfiguration,
    "`prices`": Prices,
    "`options_account`": OptionsAccount,
    "An entry of its `entries`": AccountEntry,
    "An entry of its `changed_defaults`": ChangedDefault,
}


def outcome_page() -> str:
    """Returns the page on the outcome of a study."""
    page = (
        "# The outcome of a study\n\nThe JSON document that `tune`, `resume` and `verify` print with "
        "`--json`, that the ledger keeps, and that `Outcome.to_json()` returns. Its JSON schema is "
        "[outcome.schema.json](outcome.schema.json).\n\n"
    )
    whole: dict[str, type[BaseModel]] = {"The document": outcome.Outcome}
    for title, model in (whole | OUTCOME_PARTS).items():
        said = meanings(model)
        rows = [(f"`{field.alias or name}`", said[name]) for name, field in model.model_fields.items()]
        page += f"## {title}\n\n{summary(model)}\n\n{table(('field', 'meaning'), rows)}\n"
    return page


def outcome_schema() -> dict[str, Any]:
    """Returns the JSON schema of an outcome, described by the docstrings of its parts."""
    schema = outcome.Outcome.model_json_schema()
    models = {model.__name__: model for model in OUTCOME_PARTS.values()}
    models["Outcome"] = outcome.Outcome
    for name, part in {"Outcome": schema, **schema["$defs"]}.items():
        if "enum" in part:  # pydantic describes it by its own docstring
            continue
        model = models[name]
        said = meanings(model)
        part["description"] = summary(model)
        for field_name, field in model.model_fields.items():
            part["properties"][field.alias or field_name]["description"] = said[field_name]
    return schema


def command_line() -> str:
    """Returns the page on the command line."""
    command = typer.main.get_command(app)
    context = typer.Context(command, info_name="rocktune")
    return get_docs_for_click(obj=command, ctx=context, name="rocktune")


def main() -> None:
    """Writes every page."""
    directory = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    pages = {
        "command-line": command_line,
        "study-file": study_file,
        "workload-file": workload_file,
        "options": options,
        "figures": figures,
        "rocksdb-changes": rocksdb_changes,
        "outcome": outcome_page,
    }
    for name, page in pages.items():
        (directory / f"{name}.md").write_text(HEAD + page().rstrip() + "\n")
    (directory / "outcome.schema.json").write_text(json.dumps(outcome_schema(), indent=1) + "\n")


if __name__ == "__main__":
    main()

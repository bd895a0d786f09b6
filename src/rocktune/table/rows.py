"""What a table is: runs with configuration, status and figures, and what they were measured under."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from rocktune.device import DeviceSpec
from rocktune.errors import UserError
from rocktune.spec_file import Amount, Count, Positive, Spec
from rocktune.trial import Configuration, OptionMaps, Status
from rocktune.workload import WorkloadSpec


class Conditions(Spec):
    """What the rows of a table were measured under.

    Attributes:
        rocktune_table: the format's number.
        knobs: the columns that are the configuration, each with its type.
        workload: at full size.
        device: what the store's I/O could use.
        space: as `rocktune.space.space_document` writes it.
        memory_bytes: the memory budget at full size.
        base_options: the user's own OPTIONS file, if there was one.
        scale: S.
        seed: decided the workload's random numbers.
        warm_up_s: seconds of load before what was measured.
        measured_s: seconds that were measured, at this scale.
        engine: what was measured.
        host: the machine.
        date: when it ended, ISO 8601.
    """

    rocktune_table: Literal[1] = 1
    knobs: dict[str, Literal["int", "float", "bool", "str"]]
    workload: WorkloadSpec
    device: DeviceSpec
    space: dict[str, Any]
    memory_bytes: Positive
    base_options: OptionMaps | None = None
    scale: Positive
    seed: Count
    warm_up_s: Amount = 0.0
    measured_s: Annotated[float, Field(gt=0)]
    engine: str = ""
    host: str = ""
    date: str = ""


@dataclass(frozen=True)
class TableRow:
    """One run.

    Attributes:
        configuration: what ran.
        replicate: equal ones met equal workloads.
        status: how it ended.
        message: what a failed run last said.
        figures: by `rocktune.trial.FIGURES`; NaN where not defined.
    """

    configuration: Configuration
    replicate: int
    status: Status
    message: str = ""
    figures: Mapping[str, float] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Table:
    """Past measurements under equal conditions.

    Attributes:
        conditions: see `Conditions`.
        rows: in the order of measuring.
    """

    conditions: Conditions
    rows: tuple[TableRow, ...] = field(repr=False)


def knob_types(configurations: Iterable[Configuration]) -> dict[str, str]:
    """Returns the type of each knob's values, for `Conditions.knobs`."""
    found: dict[str, str] = {}
    for configuration in configurations:
        for name, value in configuration.items():
            if found.get(name) != "float":
                found[name] = type(value).__name__
    return found


def merged_tables(tables: Mapping[str, Table]) -> Table:
    """Returns one table with the rows of several.

    Args:
        tables: by the name that errors give them, at least one.

    Raises:
        UserError: they were not measured under equal conditions.
    """
    (first_name, first), *others = tables.items()
    for name, table in others:
        for condition in sorted(Conditions.model_fields.keys() - {"date", "host"}):
            if getattr(table.conditions, condition) != getattr(first.conditions, condition):
                raise UserError(f"'{name}' and '{first_name}' were measured under another {condition} each")
    conditions = {
        "date": max(table.conditions.date for table in tables.values()),
        "host": ", ".join(dict.fromkeys(table.conditions.host for table in tables.values())),
    }
    return Table(
        first.conditions.model_copy(update=conditions),
        tuple(row for table in tables.values() for row in table.rows),
    )

"""Tables: runs with configuration, status and figures, and the conditions that they share."""

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
    """The conditions under which all rows of a table were measured.

    Attributes:
        rocktune_table: version of the file format.
        knobs: the columns that hold the configuration, each with its type.
        workload: the workload at full size.
        device: limits and latencies of the store's I/O.
        space: the space, in the form of `rocktune.space.space_document`.
        memory_bytes: the memory budget at full size.
        base_options: the user's own OPTIONS file, if there was one.
        scale: S of the 1/S model, at least 1.
        seed: seed of the workload's random numbers.
        warm_up_s: seconds of load before the measured window, at this scale.
        measured_s: length of the measured window in seconds, at this scale.
        engine: name and version of the system that was measured.
        file_system: type of the file system that held the stores, several with commas; "" if unknown.
        host: the machine.
        date: end of the measurements, ISO 8601.
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
    file_system: str = ""
    host: str = ""
    date: str = ""


@dataclass(frozen=True)
class TableRow:
    """A row of a table: one run.

    Attributes:
        configuration: the configuration of the run.
        replicate: number of the run; runs with equal ones got the same random numbers of the workload.
        status: how the run ended.
        message: the last output of a failed run.
        figures: figures by name (`rocktune.trial.FIGURES`); NaN if not defined.
    """

    configuration: Configuration
    replicate: int
    status: Status
    message: str = ""
    figures: Mapping[str, float] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Table:
    """A table of past measurements under equal conditions.

    Attributes:
        conditions: the conditions that all rows share.
        rows: the runs in the order of measuring.
    """

    conditions: Conditions
    rows: tuple[TableRow, ...] = field(repr=False)


def knob_types(configurations: Iterable[Configuration]) -> dict[str, str]:
    """Returns the name of the type of each knob's values, as in `Conditions.knobs`."""
    found: dict[str, str] = {}
    for configuration in configurations:
        for name, value in configuration.items():
            # A knob with an int and a float among its values takes real numbers.
            if found.get(name) != "float":
                found[name] = type(value).__name__
    return found


def merged_tables(tables: Mapping[str, Table]) -> Table:
    """Returns one table with the rows of several, whose hosts are listed and whose latest date is kept.

    Args:
        tables: the tables by their names in error messages, at least one.

    Raises:
        UserError: they were not measured under equal conditions.
    """
    (first_name, first), *others = tables.items()
    for name, table in others:
        # Hosts may differ, because the emulated device is the same on all.
        for condition in sorted(Conditions.model_fields.keys() - {"date", "file_system", "host", "knobs"}):
            if getattr(table.conditions, condition) != getattr(first.conditions, condition):
                raise UserError(
                    f"'{name}' and '{first_name}' were measured under different conditions: their "
                    f"{condition} differs; merge only tables with equal conditions"
                )
    conditions = {
        "knobs": _merged_knobs(tables),
        "date": max(table.conditions.date for table in tables.values()),
        "host": ", ".join(dict.fromkeys(table.conditions.host for table in tables.values())),
        "file_system": _merged_file_system(tables),
    }
    return Table(
        first.conditions.model_copy(update=conditions),
        tuple(row for table in tables.values() for row in table.rows),
    )


def _merged_file_system(tables: Mapping[str, Table]) -> str:
    """Returns the file system of all tables; those of older releases do not name theirs.

    Raises:
        UserError: two tables name different ones.
    """
    named: dict[str, str] = {}
    for name, table in tables.items():
        if table.conditions.file_system:
            named.setdefault(table.conditions.file_system, name)
    if len(named) > 1:
        (first_system, first), (system, name) = list(named.items())[:2]
        raise UserError(
            f"'{first}' was measured on the file system {first_system} and '{name}' on {system}; "
            "merge only tables with equal conditions"
        )
    return next(iter(named), "")


def _merged_knobs(tables: Mapping[str, Table]) -> dict[str, str]:
    """Returns the knobs of all tables with their types.

    A small table lacks the conditional knobs that are inactive in all of its runs.

    Raises:
        UserError: a knob has values of different types.
    """
    found: dict[str, str] = {}
    for name, table in tables.items():
        for knob, kind in table.conditions.knobs.items():
            kinds = {found.setdefault(knob, kind), kind}
            if len(kinds) == 1:
                continue
            if kinds != {"int", "float"}:
                raise UserError(
                    f"'{name}': values of knob '{knob}' have the type {kind}, those of the tables before it "
                    f"{found[knob]}; merge only tables of one space"
                )
            found[knob] = "float"
    return found

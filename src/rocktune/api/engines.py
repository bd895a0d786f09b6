"""Opens the engine that measures, and reads the user's OPTIONS file."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from rocktune.engine import (
    CommandEngine,
    CommandSpec,
    DbBenchEngine,
    DbBenchSpec,
    EmbeddedEngine,
    Engine,
    EngineSpec,
    OptionsChecker,
    OptionsFile,
    RecordedEngine,
    RecordedSpec,
    default_data_directory,
)
from rocktune.errors import UserError
from rocktune.space import OptionMaps
from rocktune.study.specs.own_options import DEFAULT_FAMILY


@contextmanager
def opened_engine(spec: EngineSpec, figures: Sequence[str] = ()) -> Iterator[Engine]:
    """Opens an engine in the user's data directory and closes it at the end of the `with` statement.

    Args:
        spec: engine to open.
        figures: figures that a user's own program must report in each measurement.

    Raises:
        UserError: a program is not found, or the data directory is refused.
    """
    with closing(make_engine(spec, figures)) as engine:
        yield engine


def make_engine(spec: EngineSpec, figures: Sequence[str] = ()) -> Engine:
    """Returns an open engine in the user's data directory; see `opened_engine`."""
    data_directory = default_data_directory()
    if isinstance(spec, DbBenchSpec):
        # A limit of 0 is none: budgets and estimates already hold runs within the machine's memory and disk.
        return DbBenchEngine(spec.program, data_directory, memory_limit_bytes=0, disk_limit_bytes=0)
    if isinstance(spec, RecordedSpec):
        return RecordedEngine(spec, figures)
    if isinstance(spec, CommandSpec):
        return CommandEngine(spec, data_directory, 0, 0, required_figures=figures)
    return EmbeddedEngine(data_directory, memory_limit_bytes=0, disk_limit_bytes=0)


def own_options_file(path: str | Path | None, leave_out_foreign: bool = False) -> OptionsFile | None:
    """Returns the user's OPTIONS file; None without one.

    Args:
        path: the file.
        leave_out_foreign: leaves out comparators and merge operators that only the user's application has;
            used when that application does the measuring.

    Raises:
        UserError: the file cannot be read, is not an OPTIONS file, or is cut short.
    """
    if path is None:
        return None
    with closing(OptionsChecker()) as checker:
        return checker.read_options_file(Path(path), leave_out_foreign)


def own_options(path: str | Path | None) -> OptionMaps:
    """Returns the options of an OPTIONS file's column family "default"; empty without a file.

    Raises:
        UserError: as in `own_options_file`, or the file has no such column family.
    """
    file = own_options_file(path)
    if file is None:
        return {}
    if DEFAULT_FAMILY not in file.column_families:
        named = ", ".join(sorted(file.column_families)) or "none"
        raise UserError(f"{path}: has no column family '{DEFAULT_FAMILY}'; it has {named}")
    return file.column_families[DEFAULT_FAMILY]

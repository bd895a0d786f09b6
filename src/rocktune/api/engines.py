"""Opens what every command needs: the engine that measures, and the user's own OPTIONS file."""

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
from rocktune.engine.libraries import worker_with
from rocktune.errors import UserError
from rocktune.space import OptionMaps
from rocktune.study.specs.own_options import DEFAULT_FAMILY


@contextmanager
def opened_engine(spec: EngineSpec, figures: Sequence[str] = ()) -> Iterator[Engine]:
    """Opens an engine in the user's data directory, and closes it.

    Args:
        spec: which engine.
        figures: what every measurement must have, if the user's own program is what measures.

    Raises:
        UserError: what it takes is not found, or the data directory is refused.
    """
    with closing(make_engine(spec, figures)) as engine:
        yield engine


def make_engine(spec: EngineSpec, figures: Sequence[str] = ()) -> Engine:
    """Returns an open engine in the data directory of this machine's user; see `opened_engine`."""
    data_directory = default_data_directory()
    if isinstance(spec, DbBenchSpec):
        return DbBenchEngine(spec.program, data_directory, memory_limit_bytes=0, disk_limit_bytes=0)
    if isinstance(spec, RecordedSpec):
        return RecordedEngine(spec, figures)
    if isinstance(spec, CommandSpec):
        return CommandEngine(spec, data_directory, 0, 0, required_figures=figures)
    return EmbeddedEngine(data_directory, 0, 0, worker=worker_with(spec.rocksdb))


def own_options_file(
    path: str | Path | None, leave_out_foreign: bool = False, rocksdb: str | None = None
) -> OptionsFile | None:
    """Reads the user's OPTIONS file; None without one.

    Args:
        path: the file.
        leave_out_foreign: leave out a comparator or merge operator that only its own application has, for
            that application is what measures.
        rocksdb: which RocksDB reads it; see `worker_with`.

    Raises:
        UserError: it cannot be read, is none, or is cut short.
    """
    if path is None:
        return None
    with closing(OptionsChecker(worker_with(rocksdb))) as checker:
        return checker.read_options_file(Path(path), leave_out_foreign)


def own_options(path: str | Path | None) -> OptionMaps:
    """Returns what an OPTIONS file says of its column family "default"; nothing without a file.

    Raises:
        UserError: see `own_options_file`; or it has no such column family.
    """
    file = own_options_file(path)
    if file is None:
        return {}
    if DEFAULT_FAMILY not in file.column_families:
        named = ", ".join(sorted(file.column_families)) or "none"
        raise UserError(f"{path}: has no column family '{DEFAULT_FAMILY}', only {named}")
    return file.column_families[DEFAULT_FAMILY]

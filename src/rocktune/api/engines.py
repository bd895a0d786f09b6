"""Opens the engine that measures, and reads the user's OPTIONS file."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from rocktune.engine import (
    CommandEngine,
    CommandSpec,
    DbBenchEngine,
    DbBenchSpec,
    EmbeddedEngine,
    EmbeddedSpec,
    Engine,
    EngineSpec,
    OptionsChecker,
    RecordedEngine,
    RecordedSpec,
    VersionsEngine,
    VersionsSpec,
    default_data_directory,
)
from rocktune.engine.base import RunFailed
from rocktune.engine.libraries import worker_with
from rocktune.engine.worker import WorkerProcess
from rocktune.errors import UserError
from rocktune.importing import ImportedOptions, import_options


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
    if isinstance(spec, VersionsSpec):
        with ExitStack() as opened:
            engines: dict[str, Engine] = {}
            for version in spec.rocksdb:
                engines[version] = opened.enter_context(closing(make_engine(EmbeddedSpec(rocksdb=version))))
            opened.pop_all()
        return VersionsEngine(engines)
    return EmbeddedEngine(data_directory, 0, 0, worker=worker_with(spec.rocksdb))


def engine_version(spec: EngineSpec) -> str | None:
    """Returns name and version of an engine, as its runs record them, before it is opened.

    Returns:
        Such as "RocksDB 7.8.3, assertions on"; None for other engines than `embedded`, and if its worker does
        not start, of which opening the engine tells.
    """
    if isinstance(spec, EmbeddedSpec):
        with suppress(UserError, RunFailed), closing(WorkerProcess(worker_with(spec.rocksdb))) as worker:
            return worker.engine
    return None


def own_options_file(
    path: str | Path | None,
    family: str | None = None,
    application_measures: bool = False,
    rocksdb: str | None = None,
    loaded: tuple[str, ...] = (),
) -> ImportedOptions | None:
    """Returns the user's OPTIONS file; None without one.

    Args:
        path: the file.
        family: the column family to tune; see `rocktune.importing.import_options`.
        application_measures: True if the user's own program measures, with the classes that only it has.
        rocksdb: the RocksDB that reads it; see `rocktune.engine.libraries.worker_with`.
        loaded: see `rocktune.importing.import_options`.

    Raises:
        UserError: there is no worker, or the file is refused; see `rocktune.importing.import_options`.
    """
    if path is None:
        return None
    with closing(OptionsChecker(worker_with(rocksdb))) as checker:
        return import_options(Path(path), checker.linked(), family, application_measures, loaded)

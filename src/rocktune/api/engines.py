"""Opens what every command needs: RocksDB in workers, and the user's own OPTIONS file."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from rocktune.engine import EmbeddedEngine, OptionsChecker, default_data_directory
from rocktune.errors import UserError
from rocktune.space import OptionMaps


@contextmanager
def embedded_engine() -> Iterator[EmbeddedEngine]:
    """Opens the engine in the user's data directory, and closes it.

    Raises:
        UserError: no worker or RocksDB is found, or the data directory is refused.
    """
    with closing(
        EmbeddedEngine(default_data_directory(), memory_limit_bytes=0, disk_limit_bytes=0)
    ) as engine:
        yield engine


def own_options(path: str | Path | None) -> OptionMaps | None:
    """Returns what an OPTIONS file says of its column family "default"; None without a file.

    Raises:
        UserError: it cannot be read, is none, is cut short, or has no such column family.
    """
    if path is None:
        return None
    with closing(OptionsChecker()) as checker:
        families = checker.read_options_file(Path(path)).column_families
    if "default" not in families:
        raise UserError(
            f"{path}: has no column family 'default', only {', '.join(sorted(families)) or 'none'}"
        )
    return families["default"]

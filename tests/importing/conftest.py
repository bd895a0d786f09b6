from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest

from rocktune.engine import OptionsChecker
from rocktune.engine.libraries import installed_workers
from rocktune.importing import LinkedRocksDb


@pytest.fixture(scope="module")
def every_linked(linked: LinkedRocksDb) -> Iterator[tuple[LinkedRocksDb, ...]]:
    """The RocksDB of each installed worker, the default one first."""
    found = {linked.version: linked}
    with ExitStack() as open_checkers:
        for command in installed_workers().values():
            checker = open_checkers.enter_context(closing(OptionsChecker(command)))
            found.setdefault(checker.rocksdb_version, checker.linked())
        yield tuple(found.values())

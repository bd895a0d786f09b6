from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rocktune.engine import OptionsChecker
from rocktune.importing import LinkedRocksDb

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def linked(real_worker: tuple[str, ...]) -> Iterator[LinkedRocksDb]:
    with closing(OptionsChecker(real_worker)) as checker:
        yield checker.linked()

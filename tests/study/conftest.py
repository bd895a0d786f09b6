from collections.abc import Iterator
from pathlib import Path

import pytest

from rocktune.ledger import Ledger, open_ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(str(tmp_path / "ledger.sqlite")) as ledger:
        yield ledger

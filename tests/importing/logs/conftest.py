from pathlib import Path

import pytest
from tests.importing.logs.made import Write


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a LOG file."""

    def written(text: str | bytes, name: str = "LOG") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written

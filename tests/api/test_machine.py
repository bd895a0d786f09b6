"""The machine, and what can be named."""

from pathlib import Path

import pytest

from rocktune import api
from rocktune.api import machine
from rocktune.errors import UserError
from rocktune.ledger import open_ledger


def test_everything_that_can_be_named_is_listed() -> None:
    assert "dremel-write-heavy" in api.list_workloads()
    assert "ssd-100mb" in api.list_devices()
    assert "dremel" in api.list_spaces()
    assert "random" in api.list_tuners()


def test_the_doctor_says_what_is_wrong_and_how_to_mend_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "file").write_text("mine")
    monkeypatch.setenv("ROCKTUNE_WORKER", str(tmp_path / "nowhere"))
    monkeypatch.setenv("ROCKTUNE_DATA", str(tmp_path / "foreign"))
    monkeypatch.setattr(machine, "open_ledger", lambda: open_ledger(str(tmp_path / "ledger.sqlite")))
    found = {check["check"]: check for check in api.doctor()}
    assert found["rocksdb"]["ok"] is False
    assert "ROCKTUNE_WORKER" in found["rocksdb"]["detail"]
    assert found["data directory"]["ok"] is False
    assert "name an empty or new directory" in found["data directory"]["detail"]
    assert found["ledger"]["ok"] is True
    assert "cores" in found["cores"]["detail"]


def test_cleaning_touches_only_what_is_rocktunes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    data = tmp_path / "data"
    monkeypatch.setenv("ROCKTUNE_DATA", str(data))
    assert api.clean() == {"data_directory": str(data), "removed_bytes": 0}
    assert not data.exists()
    data.mkdir()
    (data / "precious").write_text("mine")
    with pytest.raises(UserError, match="files that are not rocktune's"):
        api.clean()
    assert (data / "precious").read_text() == "mine"
    (data / "precious").rename(tmp_path / "precious")
    api.clean()
    base = data / "bases" / "0123"
    base.mkdir(parents=True)
    (base / "000001.sst").write_bytes(bytes(1000))
    abandoned = data / "runs" / "1-x" / "0"
    abandoned.mkdir(parents=True)
    (abandoned / "000002.sst").write_bytes(bytes(500))
    assert api.clean()["removed_bytes"] == 1500
    assert not base.exists()
    assert not abandoned.exists()

from pathlib import Path

import pytest

from rocktune import api
from rocktune.errors import UserError


@pytest.fixture(autouse=True)
def data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCKTUNE_DATA", str(tmp_path / "data"))


def test_a_governed_run_ends_in_figures_and_a_report(tmp_path: Path) -> None:
    found = api.govern(
        device="lite-on-256",
        mode="toggle",
        scale="1/256",
        until="100s",
        read="20s",
        governor={"debt_bytes": "8GiB"},
        options={"write_buffer_size": "32MiB", "max_write_buffer_number": "4"},
        out=tmp_path / "out",
    )
    assert found["mode"] == "toggle"
    assert found["seconds"] == 100.0
    assert found["governor_settings"]["debt_bytes"] == str((8 << 30) // 256)
    assert "Content-Security-Policy" in found["report"].read_text()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"device": "none", "mode": "toggle"}, "'none' has no bandwidth .* set device_bytes_per_s"),
        ({"device": "lite-on"}, "did you mean 'lite-on-256'"),
        ({"device": "sata", "workload": "sign"}, "did you mean 'sine'"),
        ({"device": "sata", "mode": "toggel"}, "did you mean 'toggle'"),
        ({"device": "sata", "until": "0s"}, "until"),
        ({"device": "sata", "scale": "2"}, "scale"),
        ({"device": "sata", "governor": {"debt": "1"}}, "unknown governor setting 'debt'"),
        ({"device": "sata", "options": {"write_bufer_size": "1"}}, "did you mean 'write_buffer_size'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(given: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message) as raised:
        api.govern(**given)  # type: ignore[arg-type]
    assert "\n" not in str(raised.value)

import json
from pathlib import Path

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from rocktune.device import DeviceSpec, device_file_text, device_names, load_device
from rocktune.errors import UserError

counts = st.integers(0, (1 << 62) - 1)


def test_presets() -> None:
    names = device_names()
    limited = ["none", "ssd-100mb", "ssd-200mb"]
    drives = ["sata", "nvme", "intel-750", "intel-530", "lite-on-256", "hdd", "cloud-gp3"]
    assert list(names) == limited + drives
    for name, summary in names.items():
        assert load_device(name).name == name
        assert "\n" not in summary
    assert load_device("none") == DeviceSpec(name="none")
    # Dremel limits bandwidth and nothing else; 100 MB are 100 * 2^20 bytes, as everywhere here.
    assert load_device("ssd-100mb") == DeviceSpec(name="ssd-100mb", bandwidth_bytes_s=104_857_600)
    assert load_device("ssd-200mb") == DeviceSpec(name="ssd-200mb", bandwidth_bytes_s=209_715_200)


@settings(max_examples=50)
@given(
    st.builds(
        DeviceSpec, name=st.text(min_size=1), bandwidth_bytes_s=counts, iops=counts, capacity_bytes=counts
    )
)
def test_json_keeps_a_device_as_it_is(device: DeviceSpec) -> None:
    assert DeviceSpec.model_validate(json.loads(json.dumps(device.model_dump(mode="json")))) == device


@pytest.mark.parametrize("name", device_names())
def test_a_device_file_is_read_as_the_device_that_it_was_made_from(tmp_path: Path, name: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(device_file_text(load_device(name)))
    assert load_device(str(path)) == load_device(name).model_copy(update={"name": "mine"})


def test_every_preset_can_be_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "device.toml"
    for name in device_names():
        path.write_text(tomli_w.dumps(load_device(name).model_dump(mode="json")))
        assert load_device(str(path)) == load_device(name)


def test_a_file_is_named_after_itself(tmp_path: Path) -> None:
    path = tmp_path / "slow.toml"
    path.write_text("bandwidth_bytes_s = 1_000_000\n")
    assert load_device(str(path)) == DeviceSpec(name="slow", bandwidth_bytes_s=1_000_000)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("iops = -1", "iops: input should be greater than or equal to 0, not -1"),
        ("iops = 1.5", "iops: input should be a valid integer, not 1.5"),
        ("iop = 1", "unknown field 'iop': did you mean 'iops'?"),
        ("iops = ", "malformed TOML: "),
        ("name = ''", "name: string should have at least 1 character, not ''"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(UserError) as failure:
        load_device(str(path))
    assert str(failure.value).startswith(f"{path}: {message}")


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UserError, match=r"unknown device 'ssd-10mb': did you mean 'ssd-100mb'\?"):
        load_device("ssd-10mb")

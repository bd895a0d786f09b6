from pathlib import Path

import pytest
import tomli_w

from rocktune.device import device_names
from rocktune.engine.db_bench.flags import plan_of
from rocktune.errors import UserError
from rocktune.workload import load_workload, workload_names
from rocktune.workload.dremel_settings import dremel_settings


def test_presets_say_what_they_are_in_one_line() -> None:
    names = workload_names()
    assert [f"ycsb-{letter}" for letter in "abcdef"] == [name for name in names if name.startswith("ycsb-")]
    for name, summary in names.items():
        assert load_workload(name).name == name
        assert summary
        assert "\n" not in summary


@pytest.mark.parametrize(
    ("letter", "mix", "chooser"),
    [
        ("a", {"get": 0.5, "put": 0.5}, "scrambled_zipfian"),
        ("b", {"get": 0.95, "put": 0.05}, "scrambled_zipfian"),
        ("c", {"get": 1.0}, "scrambled_zipfian"),
        ("d", {"get": 0.95, "insert": 0.05}, "latest"),
        ("e", {"scan": 0.95, "insert": 0.05}, "scrambled_zipfian"),
        ("f", {"get": 0.5, "read_modify_write": 0.5}, "scrambled_zipfian"),
    ],
)
def test_ycsb(letter: str, mix: dict[str, float], chooser: str) -> None:
    spec = load_workload(f"ycsb-{letter}")
    assert {kind: share for kind, share in spec.mix_of(spec.sessions[0]).model_dump().items() if share} == mix
    assert (spec.key_chooser.kind, spec.key_chooser.skew) == (chooser, 0.99)
    assert spec.preload.keys == spec.keys
    assert (spec.scan_length.low, spec.scan_length.high) == (1, 100)


def test_dremel_has_18_settings_of_15_workloads_on_two_devices() -> None:
    all_settings = dremel_settings()
    assert len(all_settings) == len({setting.name for setting in all_settings}) == 18
    assert len({setting.workload for setting in all_settings}) == 15
    assert {setting.workload for setting in all_settings} <= workload_names().keys()
    assert {setting.device for setting in all_settings} <= device_names().keys()
    # 9 not preloaded, 3 preloaded and Nutanix on the slow device; 3 and YCSB A and B on the fast one.
    assert [setting.device for setting in all_settings].count("ssd-100mb") == 13
    assert [setting.device for setting in all_settings].count("ssd-200mb") == 5


def test_dremels_workloads_are_the_papers() -> None:
    for setting in dremel_settings():
        spec = load_workload(setting.workload)
        assert spec.threads == 16
        assert spec.key_bytes == 16
        assert spec.value.mean == (400 if setting.workload == "dremel-nutanix" else 1024)
    spec = load_workload("dremel-y-skew0.9-60get")
    assert spec.preload.keys == spec.keys
    assert not spec.preload.random_order
    mix = spec.mix_of(spec.sessions[0])
    assert (spec.key_chooser.skew, mix.get, mix.put) == (0.9, 0.6, 0.4)
    assert load_workload("dremel-n-skew0.3-90get").preload.keys == 0
    workload = load_workload("dremel-nutanix")
    nutanix = workload.mix_of(workload.sessions[0])
    assert (nutanix.get, nutanix.put, nutanix.scan) == (0.57, 0.41, 0.02)


@pytest.mark.parametrize(
    ("friendly", "name"),
    [
        ("dremel-write-heavy", "dremel-n-skew0.3-30get"),
        ("dremel-read-heavy", "dremel-n-skew0.3-90get"),
        ("dremel-preloaded", "dremel-y-skew0.9-30get"),
    ],
)
def test_friendly_names(friendly: str, name: str) -> None:
    assert load_workload(friendly) == load_workload(name).model_copy(update={"name": friendly})


def written(directory: Path, text: str) -> str:
    path = directory / "mine.toml"
    path.write_text(text)
    return str(path)


def test_a_file_may_say_it_briefly(tmp_path: Path) -> None:
    spec = load_workload(
        written(
            tmp_path,
            """
            keys = 1_000_000
            value = 400
            key_chooser = { kind = "zipfian", skew = 0.9 }
            mix = { get = 0.9, put = 0.1 }
            arrival = { kind = "fixed_rate", operations_s = 5000 }
            """,
        )
    )
    assert spec.name == "mine"
    assert spec.value.mean == 400
    assert len(spec.sessions) == 1
    assert spec.sessions[0].seconds == 0
    assert spec.sessions[0].arrival.operations_s == 5000


def test_a_file_may_have_sessions(tmp_path: Path) -> None:
    spec = load_workload(
        written(
            tmp_path,
            """
            name = "day and night"
            keys = 1000
            [[sessions]]
            seconds = 60
            mix = { get = 1.0 }
            [[sessions]]
            seconds = 30
            mix = { put = 1.0 }
            """,
        )
    )
    assert spec.name == "day and night"
    assert [session.seconds for session in spec.sessions] == [60, 30]


def test_every_preset_can_be_written_and_read(tmp_path: Path) -> None:
    for name in workload_names():
        spec = load_workload(name)
        assert load_workload(written(tmp_path, tomli_w.dumps(spec.model_dump(mode="json")))) == spec


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("keys = 5\nmix = {", "malformed TOML: "),
        ("keys = 5\n", "mix: missing; write the shares of operations, such as mix = {get = 1.0}"),
        ("keys = 5\narrival = {kind = 'closed'}", "mix: missing"),
        ("keys = 5\nmix = {get = 0.5}", "sessions[1].mix: the shares sum to 0.5; they must sum to 1"),
        ("mix = {get = 1.0}", "keys: missing"),
        (
            "keys = 5\nmix = {get = 1.0}\nsessions = []",
            "give either sessions or mix for a single one",
        ),
        ("keys = 5\nthread = 3\nmix = {get = 1.0}", "unknown field 'thread': did you mean 'threads'?"),
        ("keys = 5\nvalue = true\nmix = {get = 1.0}", "value: input should be a valid dictionary"),
        (
            "keys = 5\nvalue = -4\nmix = {get = 1.0}",
            "value.low: input should be greater than or equal to 0",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_its_name(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UserError) as failure:
        load_workload(path)
    assert str(failure.value).startswith(f"{path}: {message}")
    assert "\n" not in str(failure.value)


def test_malformed_toml_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"line 2"):
        load_workload(written(tmp_path, "keys = 5\nkey_bytes == 3\n"))


def test_unknown_names_and_missing_files(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"unknown workload 'ycsb-g': did you mean 'ycsb-"):
        load_workload("ycsb-g")
    with pytest.raises(UserError, match=r"none\.toml: cannot be read: No such file"):
        load_workload(str(tmp_path / "none.toml"))
    with pytest.raises(UserError, match=r"cannot be read: Is a directory"):
        load_workload(f"{tmp_path}/")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match=r"it is not UTF-8 text"):
        load_workload(str(tmp_path / "binary.toml"))


def test_loaded_workloads_are_immutable() -> None:
    with pytest.raises(ValueError, match="frozen"):
        setattr(load_workload("ycsb-a"), "keys", 5)  # noqa: B010


@pytest.mark.parametrize("name", ["fillrandom", "overwrite", "readrandom", "readrandomwriterandom"])
def test_db_bench_has_the_workloads_that_bear_its_names(name: str) -> None:
    plan = plan_of(load_workload(name))
    assert (plan.benchmark, plan.gaps) == (name, ())

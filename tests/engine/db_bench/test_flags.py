from typing import Any

import pytest

from rocktune.device import DeviceSpec, load_device
from rocktune.engine import DbBenchSpec, refuse_inexpressible
from rocktune.engine.db_bench.flags import plan_of, preload_flags
from rocktune.errors import UserError
from rocktune.workload import WorkloadSpec, load_workload

NONE = DeviceSpec(name="none")
MIXGRAPH = {
    "kind": "two_term_exponential",
    "range_a": 14.18,
    "range_b": -2.917,
    "range_c": 0.0164,
    "range_d": -0.08082,
    "ranges": 30,
    "key_a": 0.002312,
    "key_b": 0.3467,
}


def workload(mix: dict[str, float] | None = None, **changes: Any) -> WorkloadSpec:
    sessions = [{"mix": mix or {"get": 1.0}}]
    return WorkloadSpec.model_validate({"name": "w", "keys": 1000, "sessions": sessions} | changes)


@pytest.mark.parametrize(
    ("mix", "changes", "benchmark", "own"),
    [
        ({"get": 1.0}, {}, "readrandom", {}),
        ({"put": 1.0}, {}, "fillrandom", {}),
        ({"put": 1.0}, {"preload": {"keys": 1000}}, "overwrite", {}),
        ({"get": 0.3, "put": 0.7}, {}, "readrandomwriterandom", {"readwritepercent": "30"}),
        ({"get_absent": 1.0}, {}, "readmissing", {}),
        ({"read_modify_write": 1.0}, {}, "updaterandom", {}),
        ({"scan": 1.0}, {"scan_length": {"low": 50}}, "seekrandom", {"seek_nexts": "50"}),
        (
            {"scan": 1.0},
            {"scan_length": {"kind": "pareto", "k": 2.517, "sigma": 14.236, "high": 100}},
            "mixgraph",
            {"mix_seek_ratio": "1", "iter_k": "2.517", "iter_sigma": "14.236", "mix_max_scan_len": "101"},
        ),
        (
            {"get": 0.83, "put": 0.14, "scan": 0.03},
            {"key_chooser": MIXGRAPH},
            "mixgraph",
            {"mix_get_ratio": "0.83", "keyrange_num": "30", "key_dist_a": "0.0023119999999999998"},
        ),
    ],
)
def test_what_it_can_express(
    mix: dict[str, float], changes: dict[str, Any], benchmark: str, own: dict[str, str]
) -> None:
    plan = plan_of(workload(mix, **changes))
    assert plan.benchmark == benchmark
    assert plan.gaps == ()
    assert own.items() <= plan.flags.items()
    assert {
        "num": "1000",
        "threads": "16",
        "key_size": "16",
        "value_size": "1024",
    }.items() <= plan.flags.items()
    assert {kind for kind, share in mix.items() if share} <= set(plan.kinds.values())
    refuse_inexpressible(workload(mix, **changes), NONE)


def test_data() -> None:
    uniform = workload(value={"kind": "uniform", "low": 50, "high": 150}, wal=False)
    flags = plan_of(uniform).flags
    sizes = {"value_size_distribution_type": "uniform", "value_size_min": "50", "value_size_max": "150"}
    assert sizes.items() <= flags.items()
    assert "value_size" not in flags
    assert (flags["disable_wal"], flags["sync"], flags["compression_ratio"]) == ("true", "false", "0.5")


@pytest.mark.parametrize(("random_order", "benchmark"), [(True, "filluniquerandom"), (False, "fillseq")])
def test_preload(random_order: bool, benchmark: str) -> None:
    flags = preload_flags(workload(preload={"keys": 700, "random_order": random_order}))
    assert flags["benchmarks"] == f"{benchmark},flush,waitforcompaction"
    assert (flags["num"], flags["threads"], flags["value_size"]) == ("700", "1", "1024")


@pytest.mark.parametrize(
    ("mix", "changes", "named"),
    [
        ({"get": 0.9, "delete": 0.1}, {}, "10% delete"),
        ({"get": 0.5, "insert": 0.5}, {}, "50% insert"),
        ({"get": 0.5, "get_absent": 0.5}, {}, "50% get absent"),
        ({"get": 0.5, "read_modify_write": 0.5}, {}, "50% read modify write"),
        ({"read_modify_write": 1.0}, {"key_chooser": MIXGRAPH}, "100% read modify write"),
        ({"get": 0.125, "put": 0.875}, {}, "12.5% reads"),
        ({"get": 0.5, "scan": 0.5}, {}, "scans among other operations on uniform keys"),
        ({"get": 0.9995, "put": 0.0005}, {"key_chooser": MIXGRAPH}, "shares finer than a thousandth"),
        (None, {"key_chooser": {"kind": "zipfian", "skew": 0.9}}, "zipfian keys with skew 0.9"),
        (None, {"key_chooser": {"kind": "hotspot"}}, "hotspot keys"),
        (None, {"key_chooser": MIXGRAPH | {"key_a": 0.0, "key_b": 0.0}}, "uniform keys within ranges"),
        (None, {"value": {"kind": "pareto", "k": 0.2, "sigma": 25.0, "high": 1000}}, "Pareto value sizes"),
        (
            None,
            {"key_chooser": MIXGRAPH, "value": {"kind": "uniform", "low": 50, "high": 150}},
            "uniform value sizes",
        ),
        (None, {"key_chooser": MIXGRAPH, "value": {"low": 8}}, "values of 8 bytes"),
        ({"scan": 1.0}, {"scan_length": {"kind": "uniform", "high": 9}}, "uniform scan lengths"),
        (
            None,
            {"sessions": [{"mix": {"get": 1.0}, "seconds": 5.0}, {"mix": {"put": 1.0}, "seconds": 5.0}]},
            "2 sessions",
        ),
        (
            None,
            {"sessions": [{"mix": {"get": 1.0}, "arrival": {"kind": "fixed_rate", "operations_s": 5.0}}]},
            "arrival at given times",
        ),
    ],
)
def test_what_it_cannot_express_is_named(
    mix: dict[str, float] | None, changes: dict[str, Any], named: str
) -> None:
    with pytest.raises(UserError) as refusal:
        refuse_inexpressible(workload(mix, **changes), NONE)
    line = str(refusal.value)
    assert line.startswith(f"workload 'w': engine 'db_bench' cannot express {named}")
    assert line.endswith("; engine 'embedded' can")
    assert "\n" not in line


def test_all_that_is_missing_is_named_at_once() -> None:
    with pytest.raises(UserError, match=r"5% insert \(.*latest keys .*; engine 'embedded' can"):
        refuse_inexpressible(load_workload("ycsb-d"), NONE)


def test_devices() -> None:
    for name in ("none", "ssd-100mb"):
        refuse_inexpressible(workload(), load_device(name))
    refuse_inexpressible(workload(), DeviceSpec(name="small", iops=100, capacity_bytes=1 << 30))
    with pytest.raises(UserError, match=r"device 'hdd': .*\(read_latency_us, sync_latency_us\)"):
        refuse_inexpressible(workload(), load_device("hdd"))


@pytest.mark.parametrize("scale", [1, 2, 3, 4, 7, 16, 32, 512])
def test_ages_are_whole_seconds(scale: int) -> None:
    time_scale = DbBenchSpec().time_scale(scale)
    assert time_scale <= scale
    for full_size_s in (60.0, 80.0, 100.0, 120.0):
        age_s = full_size_s / time_scale
        assert age_s == pytest.approx(round(age_s), abs=1e-9)
        assert age_s >= 3 - 1e-9
    # 20 / 32 s are made 1 s, 20 / 7 s are made 3 s.
    assert DbBenchSpec().time_scale(32) == 20
    assert DbBenchSpec().time_scale(7) == pytest.approx(20 / 3)

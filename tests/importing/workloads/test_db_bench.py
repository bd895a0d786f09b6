"""Workloads from db_bench commands."""

import math
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocktune.engine.db_bench.flags import plan_of
from rocktune.errors import UserError
from rocktune.importing.workloads import Use, WorkloadEntry, from_db_bench
from rocktune.importing.workloads.command_line import known_flags
from rocktune.workload import load_workload, workload_names
from rocktune.workload.arrival import ArrivalSpec
from rocktune.workload.distributions import SizeSpec
from rocktune.workload.loads import MixSpec

COMMAND = (Path(__file__).parent / "cases" / "mixgraph-command.txt").read_text()


def entry(command: str, name: str) -> WorkloadEntry:
    (one,) = (each for each in from_db_bench(command).entries if each.name == name)
    return one


def mix(command: str) -> MixSpec | None:
    (session,) = from_db_bench(f"db_bench {command}").workload.sessions
    return session.mix


def test_the_case_becomes_an_open_load() -> None:
    found = from_db_bench(COMMAND)
    workload = found.workload
    assert mix(COMMAND) == MixSpec(get=0.5, put=0.25, scan=0.25)
    arrival = workload.sessions[0].arrival
    assert (arrival.kind, arrival.operations_s, arrival.amplitude_operations_s) == ("sine", 4500, 1000)
    assert arrival.period_s == pytest.approx(2 * math.pi / 0.000876)
    assert (workload.keys, workload.key_bytes, workload.preload.keys) == (20_000_000, 48, 20_000_000)
    # Without key_dist_a and key_dist_b db_bench draws uniformly, whatever the ranges are.
    assert workload.key_chooser.kind == "uniform"
    assert entry(COMMAND, "keyrange_dist_a").use is Use.WITHOUT_EFFECT
    assert any("keyrange_dist_*" in sentence for sentence in found.warnings)
    for name in ("cache_size", "options_file"):
        assert entry(COMMAND, name).use is Use.LEFT_OUT
        assert "--options-file" in entry(COMMAND, name).why


def test_ranges_with_hot_keys_are_used() -> None:
    chooser = from_db_bench(
        f"{COMMAND.strip()} --key_dist_a=0.002312 --key_dist_b=0.3467"
    ).workload.key_chooser
    assert chooser == load_workload("alabed-text").key_chooser


@pytest.mark.parametrize(
    ("flags", "phase"),
    [
        ("--sine_a=10 --sine_b=2 --sine_c=0.5", 0.25),
        ("--sine_a=-10 --sine_b=2 --sine_c=0.5", 0.25 + math.pi / 2),
        ("--sine_a=10 --sine_b=-2 --sine_c=0.5", (math.pi - 0.5) / 2),
    ],
)
def test_the_sine_keeps_its_phase(flags: str, phase: float) -> None:
    command = f"db_bench --benchmarks=mixgraph --sine_mix_rate --sine_d=100 {flags}"
    arrival = from_db_bench(command).workload.sessions[0].arrival
    assert arrival.phase_s == pytest.approx(phase)
    a, b, c = (float(each.split("=")[1]) for each in flags.split())
    for t in (0.0, 0.3, 1.1, 2.0):
        ours = 100 + arrival.amplitude_operations_s * math.sin(
            2 * math.pi * (t + arrival.phase_s) / arrival.period_s
        )
        assert ours == pytest.approx(100 + a * math.sin(b * t + c))


def test_a_sine_below_zero_is_bounded_and_named() -> None:
    command = "db_bench --benchmarks=mixgraph --sine_mix_rate --sine_a=10 --sine_b=1 --sine_d=4"
    arrival = from_db_bench(command).workload.sessions[0].arrival
    assert (arrival.operations_s, arrival.amplitude_operations_s) == (4, 4)
    assert entry(command, "sine_a").use is Use.TRANSLATED


def test_a_sine_without_a_period_is_a_fixed_rate() -> None:
    command = "db_bench --benchmarks=mixgraph --sine_mix_rate --sine_a=10 --sine_b=0 --sine_c=0 --sine_d=4"
    arrival = from_db_bench(command).workload.sessions[0].arrival
    assert (arrival.kind, arrival.operations_s) == ("fixed_rate", 4)


def test_a_sine_that_is_off_has_no_effect() -> None:
    assert entry("db_bench --benchmarks=mixgraph --sine_a=5", "sine_a").use is Use.WITHOUT_EFFECT


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("--benchmarks=fillrandom", MixSpec(put=1)),
        ("--benchmarks=fillseq", MixSpec(insert=1)),
        ("--benchmarks=overwrite", MixSpec(put=1)),
        ("--benchmarks=readrandom", MixSpec(get=1)),
        ("--benchmarks=readmissing", MixSpec(get_absent=1)),
        ("--benchmarks=deleterandom", MixSpec(delete=1)),
        ("--benchmarks=updaterandom", MixSpec(read_modify_write=1)),
        ("--benchmarks=seekrandom", MixSpec(scan=1)),
        ("--benchmarks=readrandomwriterandom", MixSpec(get=0.9, put=0.1)),
        ("--benchmarks=readrandomwriterandom --readwritepercent=30", MixSpec(get=0.3, put=0.7)),
        ("--benchmarks=randomwithverify", MixSpec(get=0.9, delete=0.02, put=0.08)),
        ("--benchmarks=readwhilewriting --threads=3", MixSpec(get=0.75, put=0.25)),
        ("--benchmarks=seekrandomwhilewriting --threads=4", MixSpec(scan=0.8, put=0.2)),
        ("--benchmarks=mixgraph --mix_put_ratio=1", MixSpec(get=0.5, put=0.5)),
    ],
)
def test_benchmarks_become_mixes(flags: str, expected: MixSpec) -> None:
    assert mix(flags) == expected


def test_a_writing_thread_is_added_and_its_share_is_an_assumption() -> None:
    found = from_db_bench("db_bench --benchmarks=readwhilewriting --threads=3 --use_existing_db")
    assert found.workload.threads == 4
    assert any("1 of 4 operations" in sentence for sentence in found.assumed)


def test_a_limit_in_bytes_becomes_a_rate() -> None:
    command = "db_bench --benchmarks=overwrite --value_size=84 --benchmark_write_rate_limit=10000"
    arrival = from_db_bench(command).workload.sessions[0].arrival
    assert (arrival.kind, arrival.operations_s) == ("fixed_rate", 100)


@pytest.mark.parametrize(
    ("flags", "preloaded", "randomly", "benchmark"),
    [
        ("--benchmarks=fillseq,compact,readrandom", 50, False, "readrandom"),
        ("--benchmarks=fillrandom,flush,overwrite", 50, True, "overwrite"),
        ("--benchmarks=fillrandom,overwrite --writes=20", 20, True, "overwrite"),
        ("--benchmarks=fillseq,overwrite --use_existing_db", 50, True, "overwrite"),
        ("--benchmarks=overwrite,fillrandom", 0, False, "fillrandom"),
        ("--benchmarks=readrandom,fillseq,overwrite", 50, False, "overwrite"),
        ("--benchmarks=overwrite[X3-W1]", 0, False, "overwrite"),
    ],
)
def test_fills_are_preloads(flags: str, preloaded: int, randomly: bool, benchmark: str) -> None:
    workload = from_db_bench(f"db_bench --num=50 {flags}").workload
    assert (workload.preload.keys, workload.preload.random_order) == (preloaded, randomly)
    assert workload.name == benchmark


_RANGES = "--benchmarks=overwrite --writes_per_range_tombstone=99 --range_tombstone_width=20"


def test_range_deletes_are_mixed_into_writes() -> None:
    command = f"db_bench {_RANGES} --max_num_range_tombstones=10"
    workload = from_db_bench(command).workload
    assert workload.mix_of(workload.sessions[0]).delete_range == pytest.approx(0.01)
    assert workload.delete_range_keys == SizeSpec(low=20)
    assert entry(command, "range_tombstone_width").becomes == "delete_range_keys = 20"
    assert entry(command, "max_num_range_tombstones").use is Use.LEFT_OUT
    # db_bench then deletes each key of a range for itself.
    found = mix(f"{_RANGES} --max_num_range_tombstones=10 --expand_range_tombstones")
    assert found is not None
    assert found.delete == pytest.approx(20 / 119)
    assert found.delete_range == 0


def test_range_deletes_need_a_maximum() -> None:
    # The flag's default, 0, is the maximum of range deletes.
    assert mix(_RANGES) == MixSpec(put=1)
    use = entry(f"db_bench {_RANGES}", "writes_per_range_tombstone").use
    assert use is Use.WITHOUT_EFFECT


def test_several_loads_are_sessions_of_the_duration() -> None:
    found = from_db_bench(
        "db_bench --benchmarks=fillrandom,overwrite,seekrandom --duration=60 --seek_nexts=7"
    )
    assert [(each.seconds, each.mix) for each in found.workload.sessions] == [
        (60, MixSpec(put=1)),
        (60, MixSpec(scan=1)),
    ]
    assert found.workload.scan_length.low == 7


def test_an_empty_store_is_warned_of() -> None:
    assert any("empty store" in each for each in from_db_bench("db_bench --benchmarks=readrandom").warnings)
    assert from_db_bench("db_bench --benchmarks=fillrandom").warnings == ()


def test_sizes_of_values() -> None:
    flags = "db_bench --benchmarks=overwrite --value_size_min=10 --value_size_max=20 "
    value = from_db_bench(flags + "--value_size_distribution_type=uniform").workload.value
    assert (value.kind, value.low, value.high) == ("uniform", 10, 20)
    normal = flags + "--value_size_distribution_type=Normal"
    assert entry(normal, "value_size_max").use is Use.TRANSLATED
    assert entry(flags, "value_size_max").use is Use.WITHOUT_EFFECT


def arrival(flags: str) -> ArrivalSpec:
    (session,) = from_db_bench(f"db_bench --value_size=84 {flags}").workload.sessions
    return session.arrival


@pytest.mark.parametrize(
    ("flags", "operations_s"),
    [
        # 84 bytes and a key of 16 are 100 bytes a write.
        ("--benchmarks=updaterandom --benchmark_write_rate_limit=10000", 100),
        ("--benchmarks=seekrandom --benchmark_read_rate_limit=500", 500),
        (
            "--benchmarks=readwhilewriting --benchmark_read_rate_limit=500 "
            "--benchmark_write_rate_limit=10000",
            600,
        ),
        ("--benchmarks=updaterandom --sine_write_rate --sine_a=0 --sine_d=20000", 200),
        (
            "--benchmarks=mixgraph --mix_get_ratio=0.5 --mix_put_ratio=0.5 --benchmark_read_rate_limit=100",
            200,
        ),
        (
            "--benchmarks=mixgraph --mix_get_ratio=0.5 --mix_put_ratio=0.5 --benchmark_read_rate_limit=100 "
            "--benchmark_write_rate_limit=50",
            100,
        ),
    ],
)
def test_limits_become_rates(flags: str, operations_s: float) -> None:
    assert arrival(flags) == ArrivalSpec(kind="fixed_rate", operations_s=operations_s)


def test_both_limits_give_the_writers_share() -> None:
    flags = "--benchmarks=seekrandomwhilewriting --benchmark_read_rate_limit=300 --value_size=84"
    both = f"{flags} --benchmark_write_rate_limit=10000"
    assert mix(both) == MixSpec(scan=0.75, put=0.25)
    assert not any("writing thread" in each for each in from_db_bench(f"db_bench {both}").assumed)
    assert entry(f"db_bench {both}", "benchmark_read_rate_limit").use is Use.TRANSLATED
    assert "how many writes" in entry(f"db_bench {flags}", "benchmark_read_rate_limit").why


def test_a_sine_of_writes_is_in_bytes() -> None:
    flags = "--benchmarks=overwrite --sine_write_rate=true --sine_a=1000 --sine_b=0.5 --sine_d=4000"
    found = arrival(flags)
    assert (found.kind, found.operations_s, found.amplitude_operations_s) == ("sine", 40, 10)
    assert found.period_s == pytest.approx(4 * math.pi)
    used = entry(f"db_bench --value_size=84 {flags}", "sine_d")
    assert (used.use, used.becomes) == (Use.TRANSLATED, "arrival.operations_s = 40")
    assert "100 for each write" in used.why


def test_verified_keys_are_those_of_numdistinct() -> None:
    command = "db_bench --benchmarks=randomwithverify --num=5000000"
    assert from_db_bench(command).workload.keys == 10_000
    assert entry(command, "num").use is Use.WITHOUT_EFFECT
    assert from_db_bench(f"{command} --numdistinct=7").workload.keys == 70
    filled = from_db_bench(command.replace("random", "fillseq,random"))
    assert filled.workload.keys == 5_000_000
    assert any("draws from 10000 keys of its own" in each for each in filled.warnings)


@pytest.mark.parametrize(("distance", "length"), [(0, 40), (15, 15), (60, 40)])
def test_scans_end_at_their_maximum_distance(distance: int, length: int) -> None:
    command = f"db_bench --benchmarks=seekrandom --seek_nexts=40 --max_scan_distance={distance}"
    assert from_db_bench(command).workload.scan_length == SizeSpec(low=length)
    used = entry(command, "max_scan_distance").use
    assert used is (Use.TRANSLATED if distance == 15 else Use.WITHOUT_EFFECT)


@pytest.mark.parametrize(
    ("benchmark", "flag"),
    [
        ("seekrandom", "read_random_exp_range=5"),
        ("deleterandom", "benchmark_write_rate_limit=5"),
        ("overwrite", "benchmark_read_rate_limit=5"),
        ("readrandomwriterandom", "benchmark_read_rate_limit=5"),
    ],
)
def test_flags_of_other_benchmarks_are_without_effect(benchmark: str, flag: str) -> None:
    command = f"db_bench --benchmarks={benchmark} --{flag}"
    assert from_db_bench(command).workload.key_chooser.kind == "uniform"
    found = entry(command, flag.partition("=")[0])
    assert (found.use, found.why) == (Use.WITHOUT_EFFECT, f"{benchmark} does not use it")


@pytest.mark.parametrize(
    ("flag", "use", "why"),
    [
        ("write_buffer_size=1048576", Use.LEFT_OUT, "--options-file"),
        ("histogram=1", Use.WITHOUT_EFFECT, "reports"),
        ("duration=60", Use.WITHOUT_EFFECT, "length"),
        ("num_column_families=4", Use.LEFT_OUT, "[[families]]"),
        ("num_multi_db=4", Use.LEFT_OUT, "nothing like it"),
        ("num_column_families=1", Use.WITHOUT_EFFECT, "default"),
        ("mix_get_ratio=3", Use.WITHOUT_EFFECT, "does not use it"),
        ("key_size=4", Use.TRANSLATED, "at least 8"),
    ],
)
def test_what_a_workload_lacks_is_named(flag: str, use: Use, why: str) -> None:
    found = entry(f"db_bench --benchmarks=overwrite --{flag}", flag.split("=")[0])
    assert found.use is use
    assert why in found.why


def test_words_that_were_not_read_are_warned_of() -> None:
    found = from_db_bench("db_bench --benchmarks=fillrandom | tee log")
    assert [each for each in found.warnings if "'tee'" in each]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--num=5", "--benchmarks: missing"),
        ("--benchmarks=overwite", "did you mean 'overwrite'"),
        ("--benchmarks=mergerandom", "no merge operations"),
        ("--benchmarks=compact,stats", "has no load"),
        ("--benchmarks=fillrandom --use_existing_db", "db_bench skips fillrandom"),
        ("--benchmarks=overwrite,readrandom", "add --duration"),
        ("--benchmarks=overwrite --num=$KEYS", "'$KEYS' is no whole number"),
        ("--benchmarks=overwrite --num=0", "is not from 1"),
        ("--benchmarks=overwrite --sync=maybe", "neither true nor false"),
        ("--benchmarks=mixgraph --mix_get_ratio=0", "all ratios are 0"),
        ("--benchmarks=mixgraph --sine_mix_rate --sine_d=0", "sine_d"),
        ("--benchmarks=mixgraph --sine_mix_rate --sine_b=1e6", "sine_b"),
        ("--benchmarks=mixgraph --num=5 --keyrange_num=9 --keyrange_dist_a=1 --key_dist_a=1 --key_dist_b=1",
         "ranges"),
        ("--benchmarks=randomwithverify --deletepercent=50", "exceed 100"),
    ],
)  # fmt: skip
def test_wrong_commands_are_refused(flags: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        from_db_bench(f"db_bench {flags}")
    assert message in str(caught.value)


@pytest.mark.parametrize("name", sorted(workload_names()))
def test_the_engines_flags_are_read_back(name: str) -> None:
    workload = load_workload(name)
    plan = plan_of(workload)
    if plan.gaps:
        return  # db_bench does not have this workload, so its flags say another one
    flags = " ".join(f"--{flag}={value}" for flag, value in plan.flags.items())
    if workload.preload.keys:
        flags += " --use_existing_db"
    found = from_db_bench(f"db_bench --benchmarks={plan.benchmark} {flags}").workload
    assert found.sessions[0].mix == workload.sessions[0].mix
    for field in ("keys", "key_bytes", "threads", "value_compressed_fraction", "key_chooser", "wal", "sync"):
        assert getattr(found, field) == getattr(workload, field)
    assert found.value.mean == pytest.approx(workload.value.mean)
    assert found.preload.keys == workload.preload.keys


_FLAGS = sorted(known_flags())


@given(
    st.sampled_from(["mixgraph", "overwrite", "fillseq,readrandom", "readwhilewriting"]),
    st.lists(
        st.tuples(
            st.sampled_from(_FLAGS).filter(lambda name: name != "benchmarks"),
            st.sampled_from(["0", "1", "0.5", "-1", "true", "", "1e9", "x", "99999999999999999999"]),
        ),
        max_size=8,
    ),
)
def test_each_flag_has_one_use_or_the_command_is_refused(name: str, given: list[tuple[str, str]]) -> None:
    words = "".join(f" --{flag}={value}" for flag, value in given)
    with suppress(UserError):
        found = from_db_bench(f"db_bench --benchmarks={name}{words}")
        assert [each.name for each in found.entries] == ["benchmarks", *(flag for flag, _ in given)]

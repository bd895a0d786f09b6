import itertools
import json
import math
from pathlib import Path

import pytest
from benchmarks.rocktune.outside_check import claims_of, continued, names_in, steady_claim
from benchmarks.rocktune.outside_chunks import (
    AGE,
    LOAD,
    MEASURE,
    Chunk,
    Conditions,
    Figures,
    Record,
    Step,
    load_figures,
    measured_figures,
    plan,
)
from benchmarks.rocktune.outside_stores import (
    SETTINGS,
    max_store_bytes,
    require_options,
    seed_of,
    workload_of,
)

from rocktune.engine.db_bench.flags import plan_of
from rocktune.errors import UserError

CONDITIONS = Conditions("stock db_bench, RocksDB 7.8.3", "ssd-100mb by a cgroup", 1, 1, 300)
STEPS = plan(["write-heavy"], ["guide", "winner"], ageing=1, pairs=3)


def part(operations: int, seconds: float, read_us: int, write_us: int, found: int = 40) -> str:
    """A part of db_bench's output, as 7.8.3 prints it; all latencies of a kind are equal."""
    rate = round(operations / seconds)

    def table(kind: str, us: int) -> str:
        return (
            f"Microseconds per {kind}:\nCount: 100 Average: {us}.0000  StdDev: 0.00\n"
            f"Min: {us}  Median: {us}.0000  Max: {us}\n"
            f"Percentiles: P50: {us}.00 P75: {us}.00 P99: {us}.00 P99.9: {us}.00 P99.99: {us}.00\n"
            "------------------------------------------------------\n"
            f"(     {us - 1},     {us} ]      100 100.000% 100.000% ####################\n"
        )

    return (
        f"readrandomwriterandom :      10.000 micros/op {rate} ops/sec {seconds:.3f} seconds "
        f"{operations} operations; ( reads:40 writes:60 total:200 found:{found})\n"
        + table("read", read_us)
        + "\n"
        + table("write", write_us)
        + "\n"
    )


TICKERS = (
    "\nSTATISTICS:\nrocksdb.bytes.written COUNT : 1000\nrocksdb.wal.bytes COUNT : 1000\n"
    "rocksdb.flush.write.bytes COUNT : 600\nrocksdb.compact.write.bytes COUNT : 1900\n"
)


def figures(ops_s: float, write_us_p99: float = 100.0) -> Figures:
    return Figures(ops_s, 50.0, write_us_p99, 3.5, 1000)


def chunk(step: Step, ops_s: float = 100.0, conditions: Conditions = CONDITIONS) -> Chunk:
    return Chunk(step, conditions, figures(ops_s), 600.0, (1, 2))


def recorded(out: Path, count: int) -> Record:
    record = Record(out)
    for step in STEPS[:count]:
        record.add(chunk(step))
    return record


def test_a_plan_alternates_on_one_store_for_each_configuration() -> None:
    steps = plan(["write-heavy", "read-heavy"], ["guide", "winner"], ageing=1, pairs=2)
    assert [(step.setting[0], step.configuration[0], step.phase, step.number) for step in steps] == [
        ("w", "g", LOAD, 0),
        ("w", "w", LOAD, 0),
        ("w", "g", AGE, 0),
        ("w", "w", AGE, 0),
        ("w", "g", MEASURE, 0),
        ("w", "w", MEASURE, 0),
        ("w", "w", MEASURE, 1),
        ("w", "g", MEASURE, 1),
        ("r", "g", AGE, 0),
        ("r", "w", AGE, 0),
        ("r", "g", MEASURE, 0),
        ("r", "w", MEASURE, 0),
        ("r", "w", MEASURE, 1),
        ("r", "g", MEASURE, 1),
    ]


@pytest.mark.parametrize(("ageing", "later"), [(1, 1), (2, 1), (8, 4)])
def test_later_settings_age_half_as_long(ageing: int, later: int) -> None:
    steps = plan(["write-heavy", "read-heavy"], ["guide", "winner"], ageing, pairs=3)
    counted = [sum(step.setting == name and step.phase == AGE for step in steps) for name in SETTINGS]
    assert counted == [2 * ageing, 2 * later]


def test_the_last_part_of_a_chunk_counts() -> None:
    text = part(9000, 3.0, 700, 800) + part(1000, 4.0, 70, 90) + TICKERS
    # Write amplification over both parts: (1000 + 600 + 1900) / 1000.
    assert measured_figures(text) == Figures(250.0, 70.0, 90.0, 3.5)


def test_output_without_both_parts_or_with_missing_keys_is_refused() -> None:
    one = part(1000, 4.0, 70, 90)
    with pytest.raises(UserError, match="printed 1 results for readrandomwriterandom instead of 2"):
        measured_figures(one + TICKERS)
    with pytest.raises(UserError, match=r"did not find all keys .*found:39"):
        measured_figures(one + part(1000, 4.0, 70, 90, found=39) + TICKERS)
    without_puts = one.partition("Microseconds per write")[0]
    with pytest.raises(UserError, match="no latencies of gets or of puts"):
        measured_figures(one.partition("\n")[0] + "\n" + without_puts + TICKERS)
    with pytest.raises(UserError, match="printed no result for filluniquerandom"):
        load_figures(one)


def test_db_bench_expresses_both_settings_exactly() -> None:
    for setting, reads in (("write-heavy", "30"), ("read-heavy", "90")):
        workload = workload_of(setting, 64)
        flags = plan_of(workload)
        assert (flags.benchmark, flags.gaps) == ("readrandomwriterandom", ())
        assert flags.flags["readwritepercent"] == reads
        assert flags.flags["num"] == str(workload.preload.keys) == "156250"
        assert [flags.flags[name] for name in ("threads", "key_size", "value_size", "compression_ratio")] == [
            "16", "16", "1024", "0.5"
        ]  # fmt: skip


def test_no_two_chunks_of_a_store_repeat_each_others_keys() -> None:
    steps = plan(["write-heavy", "read-heavy"], ["guide", "winner"], ageing=8, pairs=9)
    for name in ("guide", "winner"):
        seeds = sorted(seed_of(step, 1) for step in steps if step.configuration == name)
        # db_bench adds at most 2 * 16 to a seed.
        assert min(later - earlier for earlier, later in itertools.pairwise(seeds)) > 32
    assert len({seed_of(step, 1) for step in steps}) == len(steps) / 2


def test_a_store_has_twice_its_data_and_room_for_buffers() -> None:
    assert max_store_bytes(1) == 2 * 10_000_000 * 1040 + (256 << 20)


def test_options_that_db_bench_did_not_use_are_named() -> None:
    given = {"cf": {"max_bytes_for_level_multiplier": "10"}, "table": {"block_cache": "1000"}}
    used = {"cf": {"max_bytes_for_level_multiplier": "10.000000"}, "table": {"block_cache": "1000"}}
    require_options(STEPS[0], given, used)
    used["table"]["block_cache"] = "8388608"
    with pytest.raises(UserError, match="guide, load 0: db_bench used block_cache=8388608 instead of 1000"):
        require_options(STEPS[0], given, used)


def test_a_later_call_goes_on_with_the_next_chunk(tmp_path: Path) -> None:
    first = recorded(tmp_path, 5)
    again = Record(tmp_path)
    assert again.chunks == first.chunks
    assert again.remaining(STEPS, CONDITIONS) == STEPS[5:]
    measured: list[Step] = []

    def measure(step: Step) -> Chunk:
        measured.append(step)
        return chunk(step)

    continued(again, again.remaining(STEPS, CONDITIONS), measure, lambda _: 600.0, 1.0, lambda _: None)
    assert measured == STEPS[5:]
    assert Record(tmp_path).remaining(STEPS, CONDITIONS) == []


def test_a_killed_chunk_is_measured_again(tmp_path: Path) -> None:
    def killed(step: Step) -> Chunk:
        if step == STEPS[2]:
            raise KeyboardInterrupt
        return chunk(step)

    record = Record(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        continued(record, STEPS, killed, lambda _: 600.0, 9.0, lambda _: None)
    assert Record(tmp_path).remaining(STEPS, CONDITIONS) == STEPS[2:]


def test_a_call_starts_no_chunk_that_its_hours_do_not_hold(tmp_path: Path) -> None:
    said: list[str] = []
    record = Record(tmp_path)
    continued(record, STEPS, chunk, lambda step: 60.0 if step.phase == LOAD else 7200.0, 1.0, said.append)
    assert [each.step for each in record.chunks] == STEPS[:2]
    assert said[-1] == "8 chunks remain: --hours 1 has no time for another; call again"


def test_chunks_of_other_conditions_or_plans_are_refused(tmp_path: Path) -> None:
    record = recorded(tmp_path, 4)
    with pytest.raises(UserError, match="chunks have scale 1, and this call has 64"):
        record.remaining(STEPS, Conditions(CONDITIONS.engine, CONDITIONS.device, 64, 1, 300))
    with pytest.raises(UserError, match="chunks are of another plan"):
        record.remaining(plan(["write-heavy"], ["guide", "winner"], ageing=2, pairs=3)[1:], CONDITIONS)
    more_pairs = plan(["write-heavy"], ["guide", "winner"], ageing=1, pairs=9)
    assert record.remaining(more_pairs, CONDITIONS) == more_pairs[4:]


def test_a_file_that_is_no_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / "chunks.csv").write_text("setting,number\nwrite-heavy,0\n")
    with pytest.raises(UserError, match=r"chunks\.csv: line 2: no column 'configuration'; name a new --out"):
        Record(tmp_path)


def test_claims_need_three_pairs_and_have_the_interval_by_hand() -> None:
    record = Record(None)
    for step, ops_s in zip(STEPS, (1, 1, 1, 1, 100, 200, 220, 100, 100, 210), strict=True):
        claims = list(claims_of(record, CONDITIONS, ["write-heavy"], ["guide", "winner"]))
        assert claims == []
        record.add(chunk(step, ops_s))
    found = {
        claim.name: claim.measured
        for claim in claims_of(record, CONDITIONS, ["write-heavy"], ["guide", "winner"])
    }
    ratio = found["write-heavy_winner_over_guide"]
    # Ratios 2, 2.2 and 2.1; logarithms 0.693147, 0.788457 and 0.741937, mean 0.741181, deviation 0.047660.
    # Student's t for 2 degrees of freedom is 4.302653: half width 4.302653 * 0.047660 / sqrt(3) = 0.118393.
    assert ratio.value == pytest.approx(math.exp(0.741181), abs=1e-5)
    assert ratio.low == pytest.approx(math.exp(0.741181 - 0.118393), abs=1e-4)
    assert ratio.repeats == 3
    assert found["write-heavy_winner"].value == pytest.approx(210)
    assert found["write-heavy_winner_over_guide_write_amplification"].value == pytest.approx(1)


def test_rocktunes_own_ratio_comes_from_the_evidence(tmp_path: Path) -> None:
    runs = tmp_path / "what_lasts" / "runs.csv"
    runs.parent.mkdir()
    assert list(steady_claim("write-heavy", "winner", "guide", runs)) == []
    runs.write_text(
        "setting,configuration,replicate,steady_ops_s\n"
        "dremel-write-heavy,guide,0,100\ndremel-write-heavy,winner,0,150\n"
        "dremel-write-heavy,guide,1,100\ndremel-write-heavy,winner,1,150\n"
        "dremel-write-heavy,winner,2,900\nycsb-a,guide,2,100\n"
    )
    conditions = {
        "experiment": "what_lasts",
        "engine": "RocksDB 11.8.1",
        "device": "ssd-100mb",
        "scale": "1/128",
        "commit": "abc",
        "date": "2026-11-26",
        "command": "python -m benchmarks.rocktune.what_lasts",
    }
    (tmp_path / "claims.json").write_text(json.dumps([{"experiment": "throttle"}, conditions]))
    (claim,) = steady_claim("write-heavy", "winner", "guide", runs)
    assert claim.name == "write-heavy_winner_over_guide_by_rocktune"
    assert claim.measured.value == pytest.approx(1.5)
    assert claim.measured.repeats == 2
    assert (claim.scale, claim.commit, claim.date) == ("1/128", "abc", "2026-11-26")
    assert list(steady_claim("read-heavy", "winner", "guide", runs)) == []


def test_misspelt_names_get_the_nearest() -> None:
    known = ["guide", "winner"]
    assert names_in("winner, guide", known, "--configurations", 2) == ["winner", "guide"]
    with pytest.raises(UserError, match="unknown configuration 'winer': did you mean 'winner'"):
        names_in("guide,winer", known, "--configurations", 2)
    with pytest.raises(UserError, match="--configurations 'guide': name 2 or more, each once"):
        names_in("guide", known, "--configurations", 2)

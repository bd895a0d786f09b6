from pathlib import Path
from typing import Any

import pytest

from rocktune.errors import UserError
from rocktune.spec_file import validated
from rocktune.workload import (
    TraceFamily,
    TraceSummary,
    WorkloadSpec,
    load_workload,
    neighbours,
    trace_workload,
    workload_file_text,
)
from rocktune.workload.distributions import SizeSpec


def family(number: int = 0, **changed: Any) -> TraceFamily:
    fields: dict[str, Any] = {
        "id": number,
        "keys": 1000,
        "used_keys": 1000,
        "present_keys": 600,
        "mean_key_bytes": 20,
        "mean_value_bytes": 300,
        "max_value_bytes": 900,
        "operations": {"get": 750, "put": 250},
    }
    return TraceFamily(**fields | changed)


def summary(*families: TraceFamily, hot_share: float = 0.0) -> TraceSummary:
    return TraceSummary(
        operations=sum(each.total for each in families),
        span_us=2_000_000,
        scan_entries=0,
        hot_share=hot_share,
        families=families,
        notes={},
    )


def test_the_store_is_loaded_in_random_order() -> None:
    assert trace_workload(summary(family()), "t", "mine").preload.random_order
    both = trace_workload(summary(family(), family(7)), "t", "mine")
    assert [each.preload.random_order for each in both.families] == [True, True]


def test_the_workload_has_the_traces_mix_and_sizes() -> None:
    workload = trace_workload(summary(family()), "t.operations", "mine")
    assert workload.keys == 1000
    assert workload.preload.keys == 600
    assert workload.key_bytes == 20
    assert workload.value.mean == 300
    assert workload.mix_of(workload.sessions[0]).get == 0.75
    assert not workload.families
    assert workload.trace is not None
    assert workload.trace.seconds == 2


def test_each_column_family_of_the_trace_is_one_of_the_workload() -> None:
    found = trace_workload(summary(family(), family(7, operations={"put": 3000})), "t", "mine")
    assert found.family_names == ("default", "family-7")
    assert found.keys == 2000
    loads = found.loads(found.sessions[0])
    assert [load.share for load in loads] == [0.25, 0.75]
    assert [load.mix.put for load in loads] == [0.25, 1.0]


@pytest.mark.parametrize(("hot_share", "expected"), [(0.01, 0.0), (0.1988, 0.66), (0.6251, 0.99)])
def test_the_skew_is_that_of_the_hottest_hundredth(hot_share: float, expected: float) -> None:
    # So many operations that chance makes no key hot.
    big = family(keys=200_000, used_keys=200_000, operations={"get": 15_000_000, "put": 5_000_000})
    chooser = trace_workload(summary(big, hot_share=hot_share), "t", "mine").key_chooser
    assert chooser.skew == pytest.approx(expected, abs=0.02)


def test_chance_is_no_skew() -> None:
    # 2,000 draws from 1,000 uniform keys (seed 1).
    uniform = family(keys=1000, used_keys=869, operations={"get": 2000})
    assert trace_workload(summary(uniform, hot_share=0.0265), "t", "mine").key_chooser.skew == 0


def test_range_deletes_have_their_mean_width() -> None:
    plain = trace_workload(summary(family()), "t", "mine")
    assert plain.delete_range_keys is None
    assert not plain.deletes
    both = summary(family(operations={"put": 960, "delete_range": 40}), family(7))
    found = trace_workload(both.model_copy(update={"range_keys": 1000}), "t", "mine")
    assert found.delete_range_keys == SizeSpec(low=25)
    assert found.loads(found.sessions[0])[0].mix.delete_range == 0.04
    assert found.deletes
    # A workload's ranges have a key at least.
    assert trace_workload(both, "t", "mine").delete_range_keys == SizeSpec(low=1)


def test_a_model_replays_a_sample() -> None:
    workload = trace_workload(summary(family()), "t", "mine").scaled(4)
    assert workload.trace is not None
    assert workload.trace.scale == 4
    assert workload.keys == 250
    assert workload.scaled(2).trace == workload.trace.model_copy(update={"scale": 8})


def test_the_workloads_file_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    ranges = family(operations={"put": 9, "delete_range": 1})
    for families in ((family(),), (family(), family(3)), (ranges,)):
        workload = trace_workload(summary(*families), "t.operations", 'my "trace"', recorded_rate=True)
        path.write_text(workload_file_text(workload))
        found = load_workload(str(path))
        assert found.trace is not None
        assert found.trace.path == str(tmp_path / "t.operations")
        assert found.model_copy(update={"trace": workload.trace}) == workload


def test_no_neighbours_and_no_field_in_other_workloads() -> None:
    assert neighbours(trace_workload(summary(family()), "t", "mine"), 0.1) == ()
    assert "trace" not in load_workload("ycsb-a").model_dump()


def test_recorded_times_need_a_trace_and_a_trace_one_session() -> None:
    given = trace_workload(summary(family()), "t", "mine", recorded_rate=True).model_dump(mode="json")
    with pytest.raises(UserError, match="arrival: kind 'recorded' needs a trace"):
        validated(WorkloadSpec, {name: value for name, value in given.items() if name != "trace"}, "w")
    session = {"seconds": 3.0, "mix": {"get": 1.0}}
    with pytest.raises(UserError, match="a trace has one session"):
        validated(WorkloadSpec, given | {"sessions": [session]}, "w")

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocktune.errors import UserError
from rocktune.spec_file import validated
from rocktune.workload import WorkloadSpec
from rocktune.workload.arrival import ArrivalSpec
from rocktune.workload.distributions import KeyChooserSpec, SizeSpec
from rocktune.workload.loads import MixSpec, PreloadSpec
from rocktune.workload.sessions import SessionSpec

KINDS = list(MixSpec.model_fields)
GET = {"get": 1.0}


def finite(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False)


@st.composite
def mixes(draw: st.DrawFn) -> MixSpec:
    weights = [draw(st.integers(0, 10)) for _ in KINDS]
    weights[draw(st.integers(0, len(KINDS) - 1))] += 1
    return MixSpec(**{kind: weight / sum(weights) for kind, weight in zip(KINDS, weights, strict=True)})


@st.composite
def arrivals(draw: st.DrawFn) -> ArrivalSpec:
    rate, period_s = draw(finite(0.001, 1e7)), draw(finite(0.001, 1e5))
    share = draw(finite(0.01, 1))
    return draw(
        st.sampled_from(
            [
                ArrivalSpec(),
                ArrivalSpec(kind="fixed_rate", operations_s=rate),
                ArrivalSpec(
                    kind="sine", operations_s=rate, amplitude_operations_s=share * rate, period_s=period_s
                ),
                ArrivalSpec(kind="bursts", operations_s=rate, period_s=period_s, on_s=share * period_s),
            ]
        )
    )


@st.composite
def workloads(draw: st.DrawFn) -> WorkloadSpec:
    keys = draw(st.integers(1, 10**9))
    count = draw(st.integers(1, 3))
    seconds = [draw(finite(0.001, 1e5)) for _ in range(count)]
    if draw(st.booleans()):
        seconds[-1] = 0.0
    skewed = KeyChooserSpec(kind="latest", skew=draw(finite(0, 0.99)))
    ranged = KeyChooserSpec(kind="two_term_exponential", range_a=1.0, ranges=draw(st.integers(1, keys)))
    low = draw(st.integers(0, 5000))
    return WorkloadSpec(
        name=draw(st.text(min_size=1, max_size=20)),
        keys=keys,
        key_bytes=draw(st.integers(8, 1024)),
        value=SizeSpec(kind="uniform", low=low, high=low + draw(st.integers(0, 5000))),
        threads=draw(st.integers(1, 1024)),
        key_chooser=draw(st.sampled_from([KeyChooserSpec(), skewed, ranged])),
        sessions=tuple(SessionSpec(seconds=s, mix=draw(mixes()), arrival=draw(arrivals())) for s in seconds),
        preload=PreloadSpec(keys=draw(st.integers(0, keys)), random_order=draw(st.booleans())),
        delete_range_keys=SizeSpec(low=draw(st.integers(1, 5000))),
    )


@settings(max_examples=60)
@given(workloads())
def test_json_keeps_a_workload_as_it_is(spec: WorkloadSpec) -> None:
    again = WorkloadSpec.model_validate(json.loads(json.dumps(spec.model_dump(mode="json"))))
    assert again == spec
    assert hash(again) == hash(spec)


@settings(max_examples=60)
@given(workloads(), st.integers(1, 512))
def test_a_scaled_workload_is_valid_and_as_large_as_its_scale_says(spec: WorkloadSpec, scale: int) -> None:
    scaled = spec.scaled(scale)
    assert WorkloadSpec.model_validate(scaled.model_dump(mode="json")) == scaled
    assert scaled.keys == max(1, spec.keys // scale)
    assert (scaled.preload.keys == 0) == (spec.preload.keys == 0)
    assert abs(scaled.preload.keys - spec.preload.keys / scale) < 1
    assert scaled.entry_bytes == spec.entry_bytes
    assert scaled.threads == spec.threads
    for small, large in zip(scaled.sessions, spec.sessions, strict=True):
        assert small.seconds == (max(large.seconds / scale, 0.001) if large.seconds else 0)
        assert small.mix == large.mix
        assert small.arrival.operations_s == large.arrival.operations_s
        assert small.arrival.on_s <= small.arrival.period_s


@settings(max_examples=30)
@given(workloads())
def test_scale_one_changes_nothing(spec: WorkloadSpec) -> None:
    assert spec.scaled(1) == spec


def test_scaling_divides_times_and_keys_and_nothing_else() -> None:
    bursts = ArrivalSpec(kind="bursts", operations_s=100.0, period_s=64.0, on_s=16.0)
    spec = WorkloadSpec(
        name="w",
        keys=6400,
        sessions=(SessionSpec(seconds=640.0, mix=MixSpec(get=1.0), arrival=bursts),),
        preload=PreloadSpec(keys=3200),
    )
    scaled = spec.scaled(64)
    assert (scaled.keys, scaled.preload.keys, scaled.sessions[0].seconds) == (100, 50, 10.0)
    assert scaled.sessions[0].arrival == ArrivalSpec(
        kind="bursts", operations_s=100.0, period_s=1.0, on_s=0.25
    )
    assert scaled.value == spec.value


def test_write_share_weighs_sessions_by_their_seconds() -> None:
    # 10 s at 0.2 and 30 s at 0.6 + 0.2 + 0.1 = 0.9: (10 * 0.2 + 30 * 0.9) / 40 = 0.725.
    reading = SessionSpec(seconds=10.0, mix=MixSpec(get=0.8, put=0.2))
    writing = SessionSpec(seconds=30.0, mix=MixSpec(get=0.1, put=0.6, insert=0.2, read_modify_write=0.1))
    spec = WorkloadSpec(name="w", keys=1, sessions=(reading, writing))
    assert math.isclose(spec.write_share, 0.725)
    forever = writing.model_copy(update={"seconds": 0.0})
    assert math.isclose(WorkloadSpec(name="w", keys=1, sessions=(reading, forever)).write_share, 0.9)


def test_mean_sizes() -> None:
    assert SizeSpec(low=400).mean == 400
    assert SizeSpec(kind="uniform", low=1, high=100).mean == 50.5
    # Rounding an exponential law of scale s up gives a geometric one, whose mean is 1 / (1 - e^(-1/s)):
    # for s = 50 that is 50.5017.
    assert math.isclose(SizeSpec(kind="pareto", high=4000, sigma=50.0).mean, 50.5017, abs_tol=1e-3)
    # Of what k = 0, sigma = 1 gives, sizes above 2 are taken modulo 2. P(1) = 1 - e^-1 = 0.632121, P(2) =
    # e^-1 - e^-2 = 0.232544; the odd sizes 3, 5, ... have 0.632121 * e^-2 / (1 - e^-2) = 0.098938 and count
    # 1, the even ones 0. Together 0.632121 + 2 * 0.232544 + 0.098938 = 1.196147.
    wrapped = SizeSpec(kind="pareto", high=2, sigma=1.0).mean
    assert math.isclose(wrapped, 1.196147, abs_tol=2e-3)
    spec = WorkloadSpec(
        name="w", keys=1, key_bytes=20, value=SizeSpec(low=100), sessions=(SessionSpec(mix=MixSpec(get=1.0)),)
    )
    assert spec.entry_bytes == 120


def document(**changes: Any) -> dict[str, Any]:
    return {"name": "w", "keys": 1000, "sessions": [{"mix": GET}]} | changes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kyes": 1}, "unknown field 'kyes': did you mean 'keys'?"),
        ({"keys": 0}, "keys: input should be greater than or equal to 1, not 0"),
        ({"keys": 1.5}, "keys: input should be a valid integer, not 1.5"),
        ({"keys": True}, "keys: input should be a valid integer, not True"),
        ({"keys": "1000"}, "keys: input should be a valid integer, not '1000'"),
        ({"key_bytes": 4}, "key_bytes: input should be greater than or equal to 8, not 4"),
        ({"wal": 1}, "wal: input should be a valid boolean, not 1"),
        (
            {"value_compressed_fraction": 0.0},
            "value_compressed_fraction: input should be greater than 0, not 0.0",
        ),
        ({"value": {"low": 1 << 30}}, "value: 1073741824 bytes exceed the maximum, 16777216"),
        ({"value": {"kind": "uniform", "low": 9, "high": 8}}, "value: high: 8 is below low, 9"),
        ({"value": {"kind": "pareto", "high": 100}}, "value: sigma: kind 'pareto' needs a value above 0"),
        (
            {"value": {"low": 9, "high": 20}},
            "value: 'high' has no meaning for kind 'fixed', which has low",
        ),
        (
            {"sessions": [{"mix": {"get": 0.5, "put": 0.4}}]},
            "sessions[1].mix: the shares sum to 0.9; they must sum to 1",
        ),
        (
            {"sessions": [{"mix": {"gett": 1.0}}]},
            "sessions[1].mix: unknown field 'gett': did you mean 'get'?",
        ),
        (
            {"sessions": [{"mix": {"get": -0.5, "put": 1.5}}]},
            "sessions[1].mix.get: input should be greater than or equal to 0, not -0.5",
        ),
        ({"sessions": [{}]}, "sessions[1].mix: missing; write the shares of operations"),
        ({"sessions": []}, "sessions: needs at least 1"),
        (
            {"sessions": [{"mix": GET}, {"mix": GET}]},
            "sessions: only the last one may have 0 seconds, which means for ever",
        ),
        (
            {"sessions": [{"mix": GET, "seconds": float("nan")}]},
            "sessions[1].seconds: input should be a finite number, not nan",
        ),
        (
            {"sessions": [{"mix": GET, "arrival": {"kind": "sine", "operations_s": 5.0}}]},
            "sessions[1].arrival: period_s: kind 'sine' needs at least 0.001, not 0",
        ),
        (
            {"sessions": [{"mix": GET, "arrival": {"operations_s": 5.0}}]},
            "sessions[1].arrival: 'operations_s' has no meaning for kind 'closed', which has no other field",
        ),
        (
            {"key_chooser": {"kind": "zipf"}},
            "key_chooser.kind: input should be 'uniform', 'zipfian', 'scrambled_zipfian', 'true_zipf', "
            "'hotspot', 'latest', 'two_term_exponential' or 'oldest', not 'zipf'",
        ),
        (
            {"key_chooser": {"kind": "zipfian", "skew": 1.2}},
            "key_chooser: skew: 1.2 is not in [0, 1); use kind 'true_zipf' for larger ones",
        ),
        ({"preload": {"keys": 1001}}, "preload.keys: 1001 exceeds keys, 1000"),
        ({"sync": True, "wal": False}, "sync: needs the write-ahead log; write wal = true"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as failure:
        validated(WorkloadSpec, document(**changes), "file.toml")
    assert str(failure.value) == f"file.toml: {message}"

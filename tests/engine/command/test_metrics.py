import math
from typing import Any

import pytest

from rocktune.engine import RunFailed
from rocktune.engine.command.metrics import read_figures
from rocktune.engine.spec import MetricSpec
from rocktune.trial import Status

GOOD = '{"throughput_ops_s": 1000, "read_latency_us_p99": 12.5}'


def metrics(**places: dict[str, Any]) -> dict[str, MetricSpec]:
    return {name: MetricSpec.model_validate(place) for name, place in places.items()}


@pytest.mark.parametrize(
    "said",
    [
        GOOD,
        f"loading\n{GOOD}\n",
        f"{GOOD}\ngoodbye\n",
        f'{{"throughput_ops_s": 3}}\n{GOOD}\n[1, 2]\n{{not json\n',
        '{\n  "throughput_ops_s": 1000,\n  "read_latency_us_p99": 12.5,\n  "errors": 0, "note": "x"\n}\n',
    ],
)
def test_the_last_json_object_counts(said: str) -> None:
    assert read_figures({}, said) == {"throughput_ops_s": 1000.0, "read_latency_us_p99": 12.5}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("", "printed nothing"),
        (" \n\n", "printed nothing"),
        ("1000 ops/s\n", "no line of its output is a JSON object; the last line: 1000 ops/s"),
        ("[1]\n", "no line of its output is a JSON object"),
        ("{" * 100_000, "no line of its output is a JSON object"),
        ('{"throughput_ops_sec": 1}', "did you mean 'throughput_ops_s'?"),
        ('{"note": "fast"}', "has no numbers"),
        ('{"throughput_ops_s": -1}', "throughput_ops_s is -1, which is not a finite number from 0"),
        ('{"throughput_ops_s": NaN}', "throughput_ops_s is nan, which is not a finite number from 0"),
        ('{"throughput_ops_s": Infinity}', "throughput_ops_s is inf, which is not a finite number from 0"),
        ('{"throughput_ops_s": 1e999}', "throughput_ops_s is inf, which is not a finite number from 0"),
        ('{"throughput_ops_s": "many"}', "throughput_ops_s is 'many', which is not a number"),
        ('{"throughput_ops_s": true}', "throughput_ops_s is True, which is not a number"),
        ('{"throughput_ops_s": null}', "throughput_ops_s is None, which is not a number"),
        ('{"throughput_ops_s": [1]}', "throughput_ops_s is [1], which is not a number"),
        (f'{{"throughput_ops_s": 1{"0" * 400}}}', "which is not a number"),
    ],
)
def test_nonsense_is_a_crash(said: str, message: str) -> None:
    with pytest.raises(RunFailed) as failure:
        read_figures({}, said)
    assert failure.value.status is Status.CRASHED
    assert message in failure.value.message
    assert "\n" not in failure.value.message


def test_fields_lead_into_objects() -> None:
    said = '{"result": {"ops": "1500", "latency": {"p99_ms": 2.5}}}'
    found = read_figures(
        metrics(
            throughput_ops_s={"field": "result.ops"},
            read_latency_us_p99={"field": "result.latency.p99_ms", "times": 1000},
        ),
        said,
    )
    assert found == {"throughput_ops_s": 1500.0, "read_latency_us_p99": 2500.0}


@pytest.mark.parametrize("field", ["ops", "result.op", "result.ops.mean", "result"])
def test_fields_that_are_not_there(field: str) -> None:
    with pytest.raises(RunFailed, match=r"has no field|which is not a number"):
        read_figures(metrics(throughput_ops_s={"field": field}), '{"result": {"ops": 1}}')


def test_the_last_match_of_a_pattern_counts() -> None:
    said = "warm-up: 10 ops/s\nmeasured: 1,5e3 ops/s\n  rate 2.5e3 ops/s\n"
    pattern = r"^\s*\w+:? ([\d.e]+) ops/s$"
    found = read_figures(metrics(throughput_ops_s={"pattern": pattern, "times": 2}), said)
    assert found == {"throughput_ops_s": 5000.0}


def test_a_pattern_that_finds_nothing() -> None:
    named = metrics(throughput_ops_s={"pattern": r"(\d+) ops"}, read_latency_us_p99={"pattern": r"p99 (\S+)"})
    with pytest.raises(RunFailed, match=r"nothing in its output matches 'p99"):
        read_figures(named, "10 ops\n")
    with pytest.raises(RunFailed, match=r"is 'n/a', which is not a number"):
        read_figures(named, "10 ops\np99 n/a\n")


def test_an_optional_group_that_took_no_part() -> None:
    with pytest.raises(RunFailed, match="is None, which is not a number"):
        read_figures(metrics(throughput_ops_s={"pattern": r"rate(?:: (\d+))?"}), "rate\n")


def test_what_the_study_asks_for() -> None:
    assert read_figures({}, GOOD, ("read_latency_us_p99",))
    with pytest.raises(RunFailed, match="it reports no db_bytes, which the study needs, only throughput"):
        read_figures({}, GOOD, ("db_bytes",))
    with pytest.raises(RunFailed, match="throughput_ops_s is 0, so no ratio to it can be computed"):
        read_figures({}, '{"throughput_ops_s": 0}', ("throughput_ops_s",))
    assert read_figures({}, '{"throughput_ops_s": 0}') == {"throughput_ops_s": 0.0}
    assert not math.isnan(read_figures({}, GOOD)["throughput_ops_s"])

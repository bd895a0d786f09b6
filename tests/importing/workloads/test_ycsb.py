"""Workloads from YCSB's properties."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocktune.errors import UserError
from rocktune.importing.workloads import ImportedWorkload, Use, WorkloadEntry, from_ycsb
from rocktune.workload import load_workload
from rocktune.workload.loads import MixSpec

CASES = Path(__file__).parent / "cases"
CORE = CASES / "core-workload.properties"


def imported(folder: Path, text: str) -> ImportedWorkload:
    path = folder / "w.properties"
    path.write_text(text)
    return from_ycsb(path)


def entry(found: ImportedWorkload, name: str) -> WorkloadEntry:
    (one,) = (each for each in found.entries if each.name == name)
    return one


def test_the_case_becomes_a_workload() -> None:
    found = from_ycsb(CORE)
    workload = found.workload
    assert (workload.keys, workload.threads, workload.value.low, workload.key_bytes) == (1000, 16, 1000, 23)
    (session,) = workload.sessions
    assert session.mix == MixSpec(get=0.5, put=0.3, insert=0.05, scan=0.1, read_modify_write=0.05)
    assert (session.arrival.kind, session.arrival.operations_s) == ("fixed_rate", 20_000)
    assert workload.key_chooser.kind == "scrambled_zipfian"
    assert (workload.scan_length.kind, workload.scan_length.low, workload.scan_length.high) == (
        "uniform",
        1,
        100,
    )
    assert any("sample" in sentence for sentence in found.warnings)
    assert len(found.entries) == len({each.name for each in found.entries})


@pytest.mark.parametrize(
    ("more", "keys"),
    [
        ("", 8_000),
        ("insertstart=2000", 6_000),
        ("insertcount=500", 500),
        ("insertstart=2000\ninsertcount=6000", 6_000),
    ],
)
def test_requests_go_to_the_inserted_records(tmp_path: Path, more: str, keys: int) -> None:
    workload = imported(tmp_path, f"recordcount=8000\n{more}\n").workload
    assert (workload.keys, workload.preload.keys) == (keys, keys)


@pytest.mark.parametrize("more", ["insertstart=8000", "insertcount=8001", "insertstart=1\ninsertcount=8000"])
def test_inserted_records_lie_within_the_records(tmp_path: Path, more: str) -> None:
    with pytest.raises(UserError, match="do not leave a part of recordcount, 8000"):
        imported(tmp_path, f"recordcount=8000\n{more}\n")


def test_given_properties_override_the_file() -> None:
    found = from_ycsb(CORE, ["recordcount=5000000"])
    assert found.workload.keys == found.workload.preload.keys == 5_000_000
    assert found.warnings == ()
    first, last = (each for each in found.entries if each.name == "recordcount")
    assert (first.use, last.use, last.becomes) == (Use.WITHOUT_EFFECT, Use.USED, "keys = 5000000")


def test_another_class_is_refused_by_its_name() -> None:
    with pytest.raises(UserError, match="TimeSeriesWorkload"):
        from_ycsb(CASES / "another-workload-class.properties")


@pytest.mark.parametrize(
    ("letter", "text"),
    [
        ("a", "readproportion=0.5\nupdateproportion=0.5\nrequestdistribution=zipfian"),
        ("b", "readproportion=0.95\nupdateproportion=0.05\nrequestdistribution=zipfian"),
        ("c", "readproportion=1\nupdateproportion=0\nrequestdistribution=zipfian"),
        ("d", "readproportion=0.95\nupdateproportion=0\ninsertproportion=0.05\nrequestdistribution=latest"),
        (
            "e",
            "readproportion=0\nupdateproportion=0\nscanproportion=0.95\ninsertproportion=0.05\n"
            "requestdistribution=zipfian\nmaxscanlength=100",
        ),
        ("f", "readproportion=0.5\nupdateproportion=0\nreadmodifywriteproportion=0.5\n"
              "requestdistribution=zipfian"),
    ],
)  # fmt: skip
def test_ycsbs_own_files_become_the_presets(letter: str, text: str, tmp_path: Path) -> None:
    preset = load_workload(f"ycsb-{letter}")
    found = imported(tmp_path, f"recordcount={preset.keys}\nthreadcount={preset.threads}\n{text}\n").workload
    expected = preset.model_copy(update={"name": found.name})
    if letter != "e":  # without scans their length does not matter
        expected = expected.model_copy(update={"scan_length": found.scan_length})
    assert found == expected


def test_proportions_are_divided_by_their_sum(tmp_path: Path) -> None:
    found = imported(tmp_path, "recordcount=10\nreadproportion=3\nupdateproportion=1\n")
    assert found.workload.sessions[0].mix == MixSpec(get=0.75, put=0.25)
    assert entry(found, "readproportion").use is Use.TRANSLATED


def test_defaults_of_absent_proportions_are_named(tmp_path: Path) -> None:
    found = imported(tmp_path, "recordcount=10\nscanproportion=1\n")
    assert entry(found, "scanproportion").becomes == "mix.scan = 0.5"
    assert sum("YCSB's default" in sentence for sentence in found.assumed) == 2


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("fieldcount=1\nfieldlengthdistribution=uniform\nminfieldlength=10\nfieldlength=90", 10, 90),
        # Ten fields of 50 on average; half the width is sqrt(10) * 40.
        ("fieldlengthdistribution=uniform\nminfieldlength=10\nfieldlength=90", 374, 626),
    ],
)
def test_uniform_fields(text: str, low: int, high: int, tmp_path: Path) -> None:
    value = imported(tmp_path, f"recordcount=10\n{text}\n").workload.value
    assert (value.kind, value.low, value.high) == ("uniform", low, high)


def test_zipfian_lengths_have_the_mean_of_the_law(tmp_path: Path) -> None:
    found = imported(tmp_path, "recordcount=10\nscanproportion=1\nmaxscanlength=3\n"
                               "scanlengthdistribution=zipfian\n")  # fmt: skip
    # (1 + 2 * 2^-0.99 + 3 * 3^-0.99) / (1 + 2^-0.99 + 3^-0.99) = 1.64
    assert found.workload.scan_length.low == 2
    long = imported(tmp_path, "recordcount=10\nscanproportion=1\nmaxscanlength=1000000\n"
                              "scanlengthdistribution=zipfian\n")  # fmt: skip
    exact = sum(r**0.01 for r in range(1, 1_000_001)) / sum(r**-0.99 for r in range(1, 1_000_001))
    assert long.workload.scan_length.low == pytest.approx(exact, rel=1e-3)


@pytest.mark.parametrize(
    ("law", "kind", "use"),
    [
        ("uniform", "uniform", Use.USED),
        ("hotspot", "hotspot", Use.USED),
        ("exponential", "two_term_exponential", Use.TRANSLATED),
        ("sequential", "uniform", Use.TRANSLATED),
    ],
)
def test_other_distributions(law: str, kind: str, use: Use, tmp_path: Path) -> None:
    found = imported(tmp_path, f"recordcount=10\nrequestdistribution={law}\n")
    assert found.workload.key_chooser.kind == kind
    assert entry(found, "requestdistribution").use is use


def test_ordered_keys_are_as_long_as_their_numbers(tmp_path: Path) -> None:
    text = "recordcount=100000\ninsertorder=ordered\nzeropadding="
    assert imported(tmp_path, text + "1").workload.key_bytes == 9
    found = imported(tmp_path, text + "20").workload
    assert (found.key_bytes, found.preload.random_order) == (24, False)


@pytest.mark.parametrize(
    ("name", "value", "use", "why"),
    [
        ("operationcount", "5", Use.WITHOUT_EFFECT, "length"),
        ("writeallfields", "false", Use.TRANSLATED, "whole value"),
        ("dataintegrity", "true", Use.LEFT_OUT, "not checked"),
        ("rocksdb.optionsfile", "/x", Use.LEFT_OUT, "--options-file"),
        ("hdrhistogram.percentiles", "95", Use.WITHOUT_EFFECT, "reports"),
        ("cassandra.hosts", "a", Use.LEFT_OUT, "binding"),
        ("hotspotdatafraction", "0.1", Use.WITHOUT_EFFECT, "not hotspot"),
        ("maxscanlength", "5", Use.WITHOUT_EFFECT, "no scans"),
        ("whatever", "1", Use.LEFT_OUT, "does not know"),
    ],
)
def test_what_a_workload_lacks_is_named(name: str, value: str, use: Use, why: str, tmp_path: Path) -> None:
    found = entry(imported(tmp_path, f"recordcount=10\n{name}={value}\n"), name)
    assert found.use is use
    assert why in found.why


def test_a_typing_mistake_is_warned_of(tmp_path: Path) -> None:
    found = imported(tmp_path, "recordcount=10\nreadpropotion=0.5\n")
    assert found.warnings == ("'readpropotion' is no property of YCSB: did you mean 'readproportion'?",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "recordcount: missing"),
        ("recordcount=many", "line 1: recordcount: 'many' is no whole number"),
        ("recordcount=0", "'0' is not from 1"),
        ("recordcount=9\nthreadcount=0", "threadcount: '0' is not from 1 to 1024"),
        ("recordcount=9\nreadproportion=x", "is no number"),
        ("recordcount=9\nreadproportion=0\nupdateproportion=0", "all proportions are 0"),
        ("recordcount=9\nrequestdistribution=zipf", "use one of uniform, zipfian"),
        ("recordcount=9\nfieldlengthdistribution=histogram", "give the mean"),
        ("recordcount=9\nfieldlengthdistribution=zipfian\nminfieldlength=200", "exceeds fieldlength, 100"),
        ("recordcount=9\nfieldlength=10000000", "larger than 16777216 bytes"),
        ("recordcount=9\nminscanlength=2000", "exceeds maxscanlength"),
        ("recordcount=9\nwriteallfields=yes", "neither true nor false"),
    ],
)
def test_wrong_values_are_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        imported(tmp_path, text)
    assert message in str(caught.value)


def test_a_malformed_property_is_refused() -> None:
    with pytest.raises(UserError, match="-p: 'recordcount' is no property"):
        from_ycsb(CORE, ["recordcount"])


_NAMES = [
    "recordcount",
    "readproportion",
    "requestdistribution",
    "maxscanlength",
    "target",
    "fieldlength",
    "x.y",
]
_VALUES = ["0", "1", "0.5", "zipfian", "exponential", "1e400", "9" * 30, "", "-3", "true"]


@given(st.lists(st.sampled_from([f"{name}={value}" for name in _NAMES for value in _VALUES])))
def test_each_property_has_one_use_or_the_file_is_refused(properties: list[str]) -> None:
    with suppress(UserError):
        found = from_ycsb(CORE, properties)
        assert len(found.entries) == 16 + len(properties)

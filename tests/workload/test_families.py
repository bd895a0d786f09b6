"""Workloads on several column families: what each family's operations are, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.workload.golden_specs import families_workload

from rocktune import _native
from rocktune.errors import UserError
from rocktune.spec_file import validated
from rocktune.workload import WorkloadSpec, load_workload
from rocktune.workload.loads import FamilySpec, MixSpec
from rocktune.workload.sessions import SessionSpec

FILE = """
keys_are = "left out"
[[families]]
name = "users"
keys = 1000
value = 100
mix = { get = 0.5, put = 0.5 }
[families.preload]
keys = 600
[[families]]
name = "events"
keys = 3000
value = 2000
mix = { insert = 1.0 }
"""


def written(directory: Path, text: str) -> str:
    path = directory / "two.toml"
    path.write_text(text.replace('keys_are = "left out"\n', ""))
    return str(path)


def test_a_file_needs_only_its_families(tmp_path: Path) -> None:
    workload = load_workload(written(tmp_path, FILE))
    assert workload.family_names == ("users", "events")
    assert (workload.keys, workload.preload.keys) == (4000, 600)
    first, second = workload.loads(workload.sessions[0])
    assert (first.share, second.share) == (0.5, 0.5)
    assert (first.value.low, second.value.low) == (100, 2000)
    assert workload.mix_of(workload.sessions[0]) == MixSpec(get=0.25, put=0.25, insert=0.5)
    assert workload.write_share == 0.75
    assert workload.entry_bytes == (1000 * 116 + 3000 * 2016) / 4000


def test_the_most_specific_statement_counts() -> None:
    workload = families_workload()
    (first, large), (second, late) = map(workload.loads, workload.sessions)
    assert (first.mix.get, first.value.low, first.key_chooser.kind) == (1, 1024, "uniform")
    assert (second.mix.scan, second.value.low, second.key_chooser.kind) == (1, 20, "zipfian")
    assert (large.mix.put, large.value.low, large.key_chooser.kind) == (1, 5000, "latest")
    assert (late.mix.put, late.value.low, late.key_chooser.kind) == (1, 9000, "latest")
    assert second.scan_length.low == late.scan_length.low == 3


def test_the_worker_draws_the_same_operations() -> None:
    workload = families_workload()
    drawn = _native.sample_operations(workload.model_dump_json(), 1, 0, 20_000)
    large = drawn["family"] == 1
    assert abs(np.mean(large) - 0.75) < 0.02
    assert set(drawn["value_bytes"][large]) == {5000}
    assert drawn["key"][large].max() < 200


def test_a_model_scales_each_family() -> None:
    model = families_workload().scaled(100)
    assert [family.keys for family in model.families] == [10, 2]
    assert [family.preload.keys for family in model.families] == [5, 0]
    assert (model.keys, model.preload.keys) == (12, 5)


def test_it_survives_json_and_older_documents_stay_the_same() -> None:
    workload = families_workload()
    assert WorkloadSpec.model_validate_json(workload.model_dump_json()) == workload
    plain = load_workload("ycsb-a").model_dump(mode="json")
    assert "families" not in plain
    assert set(plain["sessions"][0]) == {"seconds", "mix", "arrival"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keys": 7}, "keys: 7 is not the sum of the families' keys, 1200; leave it out"),
        (
            {"sessions": [{"families": [{"name": "larg", "share": 1.0}]}]},
            "sessions[1]: unknown column family 'larg': did you mean 'large'?",
        ),
        ({"sessions": [{}]}, "sessions[1].mix: missing; write the shares of operations"),
    ],
)
def test_mistakes_are_named(change: dict[str, Any], message: str) -> None:
    document = families_workload().model_dump(mode="json") | change
    with pytest.raises(UserError) as failure:
        validated(WorkloadSpec, document, "file")
    assert str(failure.value) == f"file: {message}"


def test_families_in_files_are_checked(tmp_path: Path) -> None:
    for old, new, message in (
        ('"events"', '"users"', "families: 'users' is named twice"),
        ("keys = 3000", "kyes = 3000", "families[2]: unknown field 'kyes'"),
        ("keys = 600", "keys = 6000", "families[1]: preload.keys: 6000 exceeds keys, 1000"),
        ('"users"\n', '"users"\nshare = 0.5\n', "families: give each one a share"),
        ("mix = { insert = 1.0 }", "", "sessions[1].mix: missing"),
    ):
        with pytest.raises(UserError) as failure:
            load_workload(written(tmp_path, FILE.replace(old, new)))
        assert message in str(failure.value)


def test_shares_of_a_session_sum_to_1() -> None:
    families = (FamilySpec(name="a", keys=1, share=0.5), FamilySpec(name="b", keys=1, share=0.6))
    with pytest.raises(ValueError, match=r"the families' shares sum to 1\.1"):
        WorkloadSpec(name="w", keys=2, families=families, sessions=(SessionSpec(mix=MixSpec(get=1.0)),))

import pytest

from rocktune.workload import WorkloadSpec, load_workload, neighbours, workload_names
from rocktune.workload.distributions import KeyChooserSpec
from rocktune.workload.loads import MixSpec
from rocktune.workload.neighbours import shifted_mix, skewed


def test_the_corners_of_a_skewed_mix() -> None:
    given = load_workload("ycsb-b")
    corners = neighbours(given, 0.1)
    assert [corner.name for corner in corners] == [
        "ycsb-b: more writes, more skew",
        "ycsb-b: more writes, less skew",
        "ycsb-b: fewer writes, more skew",
        "ycsb-b: fewer writes, less skew",
    ]
    # 5% of writes and a skew of 0.99, of which the greater one is bounded.
    assert [corner.write_share for corner in corners] == pytest.approx([0.055, 0.055, 0.045, 0.045])
    assert [corner.key_chooser.skew for corner in corners] == pytest.approx([0.999, 0.891, 0.999, 0.891])


def test_what_cannot_change_has_fewer_corners() -> None:
    uniform = load_workload("dremel-write-heavy").model_copy(update={"key_chooser": KeyChooserSpec()})
    assert [corner.name.partition(": ")[2] for corner in neighbours(uniform, 0.1)] == [
        "more writes",
        "fewer writes",
    ]
    reads = load_workload("ycsb-c")
    assert [corner.name.partition(": ")[2] for corner in neighbours(reads, 0.1)] == ["more skew", "less skew"]
    only = uniform.model_copy(
        update={"sessions": (uniform.sessions[0].model_copy(update={"mix": MixSpec(put=1.0)}),)}
    )
    assert neighbours(only, 0.1) == ()


def test_kinds_keep_their_proportions_and_none_changes_by_more_than_the_share() -> None:
    mix = MixSpec(get=0.2, scan=0.1, put=0.5, delete=0.2)
    more = shifted_mix(mix, 0.1)
    # 30% of reads is the smaller side: 3% of the operations become writes.
    assert more.model_dump() == pytest.approx(
        {"get": 0.18, "get_absent": 0, "scan": 0.09, "put": 0.5 * 0.73 / 0.7, "insert": 0}
        | {"delete": 0.2 * 0.73 / 0.7, "read_modify_write": 0}
    )
    assert shifted_mix(mix, -0.1).get == pytest.approx(0.22)


def test_skews_by_kind() -> None:
    assert skewed(KeyChooserSpec(kind="true_zipf", skew=1.2), 0.1).skew == pytest.approx(1.32)
    assert skewed(KeyChooserSpec(kind="zipfian", skew=0.5), -0.1).skew == pytest.approx(0.45)
    hot = KeyChooserSpec(kind="hotspot", hot_key_share=0.2)
    assert skewed(hot, 0.1).hot_key_share == pytest.approx(0.18)
    assert skewed(KeyChooserSpec(kind="hotspot", hot_key_share=1.0), -0.1).hot_key_share == 1.0
    assert skewed(KeyChooserSpec(), 0.1) == KeyChooserSpec()


@pytest.mark.parametrize("name", workload_names())
@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
def test_neighbours_of_all_presets_are_valid(name: str, share: float) -> None:
    given = load_workload(name)
    for corner in neighbours(given, share):
        assert WorkloadSpec.model_validate(corner.model_dump(mode="json")) == corner
        assert (corner.keys, corner.preload) == (given.keys, given.preload)
        for near, session in zip(corner.sessions, given.sessions, strict=True):
            assert near.arrival == session.arrival
            assert corner.mix_of(near) != given.mix_of(session) or corner.loads(near) != given.loads(session)

"""The stores that a draw makes for `explain`."""

from collections import Counter

import pytest
from benchmarks.rocktune.explain_drawn import VERSIONS, drawn_stores
from benchmarks.rocktune.explain_stores import GOOD, HEALTHY, PLANTED, STORES


@pytest.mark.parametrize("draw", range(5))
def test_half_of_each_kind_is_held_out(draw: int) -> None:
    stores = drawn_stores(draw)
    assert [store.name for store in stores] != [store.name for store in STORES]
    assert len({store.name for store in stores}) == len(STORES)
    held_out = Counter(store.cause for store in stores if store.held_out)
    assert held_out == dict.fromkeys({store.cause for store in PLANTED}, 1) | {"": len(HEALTHY) // 2}


def test_the_draw_alone_decides() -> None:
    assert drawn_stores(1) == drawn_stores(1)
    first, second = drawn_stores(1), drawn_stores(2)
    assert [store.held_out for store in first] != [store.held_out for store in second]
    assert {store.version for store in first} == set(VERSIONS)


def test_a_variant_keeps_the_data_and_the_planted_cause() -> None:
    for draw in range(5):
        originals = {f"draw-{draw}-{store.name}": store for store in STORES}
        for store in drawn_stores(draw):
            original = originals[store.name]
            assert (store.cause, store.workload, store.families) == (
                original.cause,
                original.workload,
                original.families,
            )
            if store.workload:
                assert 0.7 <= store.rate_ops_s / original.rate_ops_s <= 1.4
                continue
            before, after = GOOD | original.flags, GOOD | store.flags
            data = [int(flags["num"]) * int(flags["value_size"]) for flags in (before, after)]
            assert data[1] == pytest.approx(data[0], rel=0.01)
            limits = [int(flags["rate_limiter_bytes_per_sec"]) for flags in (before, after)]
            assert (limits[1] == 0) == (limits[0] == 0)
            changed = {name for name in after if after[name] != before.get(name)}
            assert changed <= {
                "value_size",
                "num",
                "deletes",
                "rate_limiter_bytes_per_sec",
                "benchmark_write_rate_limit",
            }

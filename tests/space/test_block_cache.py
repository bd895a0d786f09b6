import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocktune.errors import UserError
from rocktune.space.block_cache import BlockCache, block_cache_from_log, is_block_cache, parse_block_cache
from rocktune.space.options import scaled_options
from rocktune.units import MIB


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("67108864", BlockCache(64 * MIB)),
        ("64M", BlockCache(64 * MIB)),
        ("64MiB", BlockCache(64 * MIB)),
        ("{capacity=64M;}", BlockCache(64 * MIB)),
        ("capacity=1G; num_shard_bits=4", BlockCache(1024 * MIB, settings=(("num_shard_bits", "4"),))),
        ("kind=hyper_clock;capacity=32M", BlockCache(32 * MIB, "hyper_clock")),
    ],
)
def test_texts(text: str, expected: BlockCache) -> None:
    assert parse_block_cache(text) == expected
    assert parse_block_cache(expected.text) == expected


@given(
    st.integers(0, 1 << 50),
    st.sampled_from([(), (("num_shard_bits", "3"), ("strict_capacity_limit", "true"))]),
)
def test_what_is_written_is_read(capacity_bytes: int, settings: tuple[tuple[str, str], ...]) -> None:
    cache = BlockCache(capacity_bytes, settings=settings)
    assert parse_block_cache(cache.text) == cache


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("much", "'much' is not a size"),
        ("num_shard_bits=4", "has no capacity"),
        ("capacity=1M;shards=4", "'shards=4' is not a setting of a block cache"),
        ("capacity=1M;capacity=2M", "not a setting"),
        ("kind=clock;capacity=1M", "'clock' is not a kind of cache"),
    ],
)
def test_refusals(text: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        parse_block_cache(text)


def test_scaling_divides_the_capacity_alone() -> None:
    texts = {
        "capacity=1G;num_shard_bits=4": "capacity=4194304;num_shard_bits=4",
        "8M": "32768",
        "odd://x": "odd://x",
    }
    for given_text, scaled in texts.items():
        assert scaled_options({"table": {"block_cache": given_text}}, 256)["table"]["block_cache"] == scaled


def test_null_is_no_cache() -> None:
    assert [is_block_cache(text) for text in ("", "null", "nullptr", "0", "1M")] == [False] * 3 + [True] * 2


def test_what_rocksdb_logs() -> None:
    usual = {"capacity": str(64 * MIB), "num_shard_bits": "6", "strict_capacity_limit": "0",
             "memory_allocator": "None", "high_pri_pool_ratio": "0.500",
             "low_pri_pool_ratio": "0.000"}  # fmt: skip
    assert block_cache_from_log("LRUCache", usual).text == str(64 * MIB)
    other = usual | {"num_shard_bits": "2", "strict_capacity_limit": "1"}
    assert block_cache_from_log("LRUCache", other).text == (
        f"capacity={64 * MIB};num_shard_bits=2;strict_capacity_limit=true"
    )
    small = usual | {"capacity": str(MIB), "num_shard_bits": "1"}
    assert block_cache_from_log("LRUCache", small).text == str(MIB)
    clock = {"capacity": str(32 * MIB), "num_shard_bits": "0"}
    assert block_cache_from_log("AutoHyperClockCache", clock).kind == "hyper_clock"

import pytest

from rocktune.engine.embedded.full_size import full_size_memory_bytes

RAW = {
    "level_files": [2, 8],
    "series": {"memtables_bytes": [500, 1000, 1500]},
    "memory_bytes": {
        "memtables": 9999,
        "block_cache": 20_000,
        "block_cache_pinned": 500,
        "table_readers": 30_000,
        "resident": 9_000_000,
    },
}


def test_what_a_model_takes_at_full_size() -> None:
    # Ten tables take 18,500 bytes at any size; the other 32,500 grow with the model.
    assert full_size_memory_bytes(RAW, 64) == 64 * 32_500 + 18_500


def test_full_size_counts_the_process() -> None:
    assert full_size_memory_bytes(RAW, 1) == 9_000_000


@pytest.mark.parametrize("table_readers", [0, 10_000])
def test_tables_never_take_less_than_nothing(table_readers: int) -> None:
    raw = RAW | {"memory_bytes": RAW["memory_bytes"] | {"table_readers": table_readers}}  # type: ignore[operator]
    assert full_size_memory_bytes(raw, 10) == 210_000 + table_readers

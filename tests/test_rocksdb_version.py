import pytest

from rocktune.rocksdb_version import RocksDbVersion


def test_versions_are_ordered_by_age() -> None:
    texts = ["4.3", "6.29", "6.29.5", "8.4", "8.4.0", "8.10.0", "10.2.1", "10.10.1"]
    assert [str(each) for each in sorted(map(RocksDbVersion.of, reversed(texts)))] == texts


@pytest.mark.parametrize("text", ["", "x", "9.x", "9..1", "1.2.3.4", "-1", "9.9.3-rc1", "\u00b2", "1" * 5000])
def test_what_is_no_version(text: str) -> None:
    assert RocksDbVersion.parse(text) is None
    with pytest.raises(ValueError, match="is no version of RocksDB"):
        RocksDbVersion.of(text)


def test_a_version_includes_those_that_begin_with_it() -> None:
    assert RocksDbVersion.of("v9.1").includes(RocksDbVersion.of("9.1.2"))
    assert not RocksDbVersion.of("9.1").includes(RocksDbVersion.of("9.10.0"))

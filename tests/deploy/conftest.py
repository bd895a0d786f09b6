from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rocktune.deploy import RunningRocksDb
from rocktune.engine import OptionsChecker

OPTIONS = """[Version]
  rocksdb_version={version}
[DBOptions]
  max_background_jobs=2
  db_write_buffer_size=0
[CFOptions "default"]
  comparator=leveldb.BytewiseComparator
  write_buffer_size=67108864
  num_levels=7
  compaction_style=kCompactionStyleLevel
  compression=kNoCompression
  level0_slowdown_writes_trigger=20
[TableOptions/BlockBasedTable "default"]
  block_size=4096
[CFOptions "second"]
  write_buffer_size=1048576
"""


@pytest.fixture(scope="module")
def rocksdb(real_worker: tuple[str, ...]) -> Iterator[RunningRocksDb]:
    """The RocksDB of the installed worker."""
    with closing(OptionsChecker(real_worker)) as checker:
        yield RunningRocksDb(checker.linked(), checker.mutable(), checker.watched_refusal)


@pytest.fixture
def database(tmp_path: Path, rocksdb: RunningRocksDb) -> Path:
    """The files that describe a database with two column families and 1,000 bytes of tables."""
    directory = tmp_path / "db"
    directory.mkdir()
    (directory / "CURRENT").write_text("MANIFEST-000004\n")
    (directory / "IDENTITY").write_text("12-ab\n")
    (directory / "LOCK").touch()
    (directory / "000012.sst").write_bytes(b"x" * 1000)
    (directory / "OPTIONS-000005").write_text(OPTIONS.replace("67108864", "1").format(version="6.0.0"))
    (directory / "OPTIONS-000010").write_text(OPTIONS.format(version=rocksdb.linked.version))
    return directory

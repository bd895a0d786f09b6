"""Workers without RocksDB that say they are linked with a version of it."""

from pathlib import Path

from rocktune.testing.fake_worker import fake_worker_command


def make_worker(path: Path, rocksdb: str) -> Path:
    """Writes a program that says it is linked with a RocksDB."""
    source = Path(fake_worker_command()[-1]).read_text()
    path.parent.mkdir(parents=True)
    path.write_text(
        "#!/usr/bin/env python3\n"
        + source.replace('ROCKSDB_VERSION = "7.8.3"', f'ROCKSDB_VERSION = "{rocksdb}"')
    )
    path.chmod(0o755)
    return path

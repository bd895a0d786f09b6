"""RocksDB in worker processes of this machine."""

"""Engine `embedded`: the linked RocksDB in worker processes of this machine."""

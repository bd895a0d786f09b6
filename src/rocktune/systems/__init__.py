"""The names, units and constants of systems built on RocksDB, for writing and reading their files."""

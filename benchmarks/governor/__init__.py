"""The experiments of Warlo's thesis, with a governor outside of RocksDB."""

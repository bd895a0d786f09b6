"""rocktune finds, proves and keeps the best RocksDB configuration for a workload on a device."""

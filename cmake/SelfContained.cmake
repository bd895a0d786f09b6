# The worker and the extension of a wheel: RocksDB, its compression libraries and the C++ library are linked
# statically, so that the machine it is installed on needs glibc alone.

if(TARGET RocksDB::rocksdb-shared)
  message(FATAL_ERROR "ROCKTUNE_SELF_CONTAINED needs a RocksDB that is static alone, as 'make rocksdb' builds it; "
                      "${RocksDB_DIR} has a shared one")
endif()

# RocksDB's package names the shared compression libraries, and gflags, which only db_bench uses.
set(COMPRESSION_LIBRARIES)
foreach(name snappy lz4 zstd z)
  find_library(ROCKTUNE_STATIC_${name} lib${name}.a REQUIRED)
  list(APPEND COMPRESSION_LIBRARIES ${ROCKTUNE_STATIC_${name}})
endforeach()
set_target_properties(RocksDB::rocksdb PROPERTIES
  INTERFACE_LINK_LIBRARIES "${COMPRESSION_LIBRARIES};Threads::Threads")

# Hidden symbols keep the extension's C++ library apart from those of other extensions in the process.
add_link_options(-static-libgcc -static-libstdc++ -Wl,--exclude-libs,ALL -Wl,--as-needed)

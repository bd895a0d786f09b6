# The worker and the extension of a wheel: RocksDB, its compression libraries and the C++ library are linked
# statically, or go into the wheel, so that the machine it is installed on needs glibc alone.

if(TARGET RocksDB::rocksdb-shared)
  message(FATAL_ERROR "ROCKTUNE_SELF_CONTAINED needs a RocksDB that is static alone, as 'make rocksdb' builds it; "
                      "${RocksDB_DIR} has a shared one")
endif()

# RocksDB's package names the shared compression libraries.
foreach(name snappy lz4 zstd z)
  find_library(ROCKTUNE_STATIC_${name} lib${name}.a REQUIRED)
endforeach()
# An extension takes zstd as a shared library, which auditwheel puts into the wheel: in Debian's static one the code that
# makes dictionaries refers to stderr as position-independent code may not.
find_library(ROCKTUNE_SHARED_zstd libzstd.so REQUIRED)
set(IS_EXTENSION $<STREQUAL:$<TARGET_PROPERTY:TYPE>,MODULE_LIBRARY>)
set(COMPRESSION_LIBRARIES ${ROCKTUNE_STATIC_snappy} ${ROCKTUNE_STATIC_lz4}
  $<IF:${IS_EXTENSION},${ROCKTUNE_SHARED_zstd},${ROCKTUNE_STATIC_zstd}> ${ROCKTUNE_STATIC_z})
set_target_properties(RocksDB::rocksdb PROPERTIES
  INTERFACE_LINK_LIBRARIES "${COMPRESSION_LIBRARIES};Threads::Threads")

# Hidden symbols keep the extension's C++ library apart from those of other extensions in the process.
add_link_options(-static-libgcc -static-libstdc++ -Wl,--exclude-libs,ALL -Wl,--as-needed)

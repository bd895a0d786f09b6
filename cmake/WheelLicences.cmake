# The licences of what is linked into a wheel ask that their text goes with every copy.

file(GLOB ROCKSDB_LICENCES ${RocksDB_DIR}/../../../share/doc/rocksdb/LICENSE.*)
file(GLOB NANOBIND_LICENCE ${nanobind_ROOT}/../../nanobind-*.dist-info/licenses/LICENSE)
if(NOT ROCKSDB_LICENCES OR NOT NANOBIND_LICENCE)
  message(FATAL_ERROR "The licence of RocksDB ('make rocksdb' installs it) or of nanobind is not where it should be")
endif()
install(FILES ${ROCKSDB_LICENCES} DESTINATION ${SKBUILD_METADATA_DIR}/licenses/rocksdb)
install(FILES ${NANOBIND_LICENCE} DESTINATION ${SKBUILD_METADATA_DIR}/licenses/nanobind)
foreach(package libsnappy-dev liblz4-dev libzstd-dev zlib1g-dev nlohmann-json3-dev)
  install(FILES /usr/share/doc/${package}/copyright DESTINATION ${SKBUILD_METADATA_DIR}/licenses/${package})
endforeach()

# What tools/build-rocksdb adds to RocksDB's own build: gflags for db_bench alone. With RocksDB's WITH_GFLAGS the library
# holds tools that parse flags, and in a unity build they share object files with code that every program links, so that
# a wheel would need gflags too.
find_package(gflags REQUIRED CONFIG)
cmake_language(DEFER CALL target_compile_definitions db_bench PRIVATE GFLAGS=1)
cmake_language(DEFER CALL target_link_libraries db_bench gflags)

#pragma once

#include <rocksdb/env.h>

#include <cstdint>
#include <vector>

#include "rocktune/migrate/entry_stream.h"
#include "rocktune/migrate/migration_request.h"
#include "rocktune/util/progress.h"

namespace rocktune {

// A finished copy.
struct StoreCopy {
  std::vector<FamilyDigest> families;  // of source and copy, which are equal
  bool continued = false;              // true if an earlier call had begun the copy
};

// Copies a closed database into the directory `request.target`, with new options, and compares the two.
//
// The source is only read, under its LOCK. Entries go in order into tables of the target's options, which the
// target ingests one by one; so the last key of a family says how far it is, and a call after a kill or an
// error goes on there. The file ROCKTUNE_MIGRATION is in the target until the comparison has succeeded. It
// names the source's last sequence number and the options, so that a copy is not continued from others.
// All reading and writing goes through `env`. `progress` gets the phases "copy", "settle" and "verify", in
// bytes before compression.
//
// Throws RunError: invalid for what SourceStore refuses, for a target that is neither empty nor this copy,
// and for wide columns where RocksDB cannot write them into tables; out_of_disk before the first byte if the
// space will not suffice, and when it has not; crashed if RocksDB fails, or if source and copy differ.
StoreCopy CopyStore(const MigrationRequest& request, rocksdb::Env* env, const Progress& progress);

}  // namespace rocktune

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rocktune {

// Returns true if RocksDB has parsed the option value `given` as meant; `read` is the text that RocksDB
// serializes afterwards. Numbers may differ in form (64M and 67108864, 10 and 10.000000), and so may booleans
// (1 and true). `read` may have more nested options (`{level=3;}`) or list elements (`bloomfilter:10`) than
// `given`.
bool SameOptionValue(const std::string& given, const std::string& read);

// Returns the number of bytes in `text`, or nullopt if RocksDB would not parse it as one: decimal digits, and
// optionally K, M, G or T for powers of 1024.
std::optional<uint64_t> ParseOptionBytes(const std::string& text);

}  // namespace rocktune

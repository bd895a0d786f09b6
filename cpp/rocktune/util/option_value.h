#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rocktune {

// Whether RocksDB read an option's value as what was given: `read` is what it writes down for it afterwards.
// Numbers may differ in form (64M and 67108864, 10 and 10.000000), booleans too (1 and true); of nested
// options
// (`{level=3;}`) and of lists (`bloomfilter:10`) the given part counts.
bool SameOptionValue(const std::string& given, const std::string& read);

// A number of bytes as RocksDB takes it: decimal, with K, M, G or T behind it for powers of 1024. Nothing for
// anything else.
std::optional<uint64_t> ParseOptionBytes(const std::string& text);

}  // namespace rocktune

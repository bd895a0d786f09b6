#pragma once

#include <rocksdb/env.h>

#include <cstdarg>

namespace rocktune {

// A logger that drops every message. RocksDB writes a LOG file, also for a database that is only read, unless
// its options have a logger.
class SilentLogger : public rocksdb::Logger {
 public:
  using Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

}  // namespace rocktune

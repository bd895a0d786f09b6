#pragma once

#include <rocksdb/env.h>

#include <cstdarg>

namespace rocktune {

// A logger that drops its lines. It keeps a database that is only read from getting LOG files.
class SilentLogger : public rocksdb::Logger {
 public:
  using Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

}  // namespace rocktune

#include "rocktune/trace/trace_source.h"

#include "rocktune/trace/query_trace.h"
#include "rocktune/trace/text_trace.h"
#include "rocktune/trace/trace_bytes.h"

namespace rocktune {

std::unique_ptr<TraceSource> OpenTrace(const std::string& path) {
  constexpr std::size_t kBeginBytes = 64;
  std::string begin;
  TraceBytes(path).Read(kBeginBytes, &begin);
  if (LooksLikeRocksDbTrace(begin)) {
    return std::make_unique<QueryTrace>(path);
  }
  return std::make_unique<TextTrace>(path);
}

}  // namespace rocktune

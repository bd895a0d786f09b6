#pragma once

#include <nanobind/nanobind.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "rocktune/flsm/flsm_options_map.h"

namespace rocktune {

// Throws if `status` is not OK: std::invalid_argument, a ValueError in Python, for InvalidArgument, which the
// caller can correct; std::runtime_error, a RuntimeError, for everything else.
inline void ThrowUnlessOk(const rocksdb::Status& status) {
  if (status.IsInvalidArgument()) {
    throw std::invalid_argument(status.ToString());
  }
  if (!status.ok()) {
    throw std::runtime_error(status.ToString());
  }
}

// Returns a slice of the bytes object's memory, which must outlive the slice.
inline rocksdb::Slice SliceOf(const nanobind::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

// Returns a bytes object with a copy of the slice. REQUIRES: the GIL is held.
inline nanobind::bytes BytesOf(const rocksdb::Slice& slice) {
  return nanobind::bytes(slice.data(), slice.size());
}

// Returns the options in a JSON object of texts. Throws std::invalid_argument or nlohmann::json::exception if
// the text is malformed.
inline FlsmOptions LayoutFromJson(const std::string& text) {
  return FlsmOptionsFromMap(nlohmann::json::parse(text).get<SettingsMap>());
}

}  // namespace rocktune

#pragma once

#include <iomanip>
#include <sstream>
#include <string>

#include "rocktune/options/watched_file.h"

namespace rocktune {

// For tests: returns the text of a watched file with the lines `body` and the right checksum.
inline std::string WatchedText(const std::string& body) {
  const std::string text = "# rocktune options, format 1\n" + body;
  std::ostringstream end;
  end << "# end crc32=" << std::hex << std::setw(8) << std::setfill('0') << Crc32(text) << "\n";
  return text + end.str();
}

// For tests: returns the text of a watched file with options of the column family "default".
inline std::string FamilyText(const std::string& options) {
  return WatchedText("[CFOptions \"default\"]\n" + options + "\n");
}

}  // namespace rocktune

#include "functions/kernels/text/model_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace penstock {

std::string read_model_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  if (file) out << file.rdbuf();
  if (!file || file.bad()) {
    throw Error(errno == ENOENT ? Code::not_found : Code::failed_precondition,
                path + ": " + (errno ? std::strerror(errno) : "cannot be read"));
  }
  return out.str();
}

}  // namespace penstock

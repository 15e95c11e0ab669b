// text_line(filenames): the lines of text files, without line ends, one file after the other.

#include "datasets/datasets.h"
#include "datasets/records.h"

namespace penstock {

OperatorDef text_line_operator() {
  RecordsFormat format;
  format.name = "text_line";
  format.doc = "The lines of text files, without their line ends.";
  format.reader = [](std::string path, const ReaderOptions& options, const Attrs&) {
    return open_text_lines(std::move(path), options);
  };
  return records_operator(std::move(format));
}

}  // namespace penstock

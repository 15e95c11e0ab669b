// text_line(filenames): the lines of text files, without line ends, one file after the other.

#include "datasets/datasets.h"
#include "datasets/records.h"

namespace penstock {

OperatorDef text_line_operator() {
  return records_operator("text_line",
                          "The lines of text files; compression \"\", \"GZIP\" or \"ZLIB\".",
                          open_text_lines);
}

}  // namespace penstock

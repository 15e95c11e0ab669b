// tfrecord(filenames): the records of TFRecord files, one file after the other, checksums verified.

#include "datasets/datasets.h"
#include "datasets/records.h"

namespace penstock {

OperatorDef tfrecord_operator() {
  return records_operator("tfrecord",
                          "The records of TFRecord files; compression \"\", \"GZIP\" or \"ZLIB\".",
                          open_tfrecord);
}

}  // namespace penstock

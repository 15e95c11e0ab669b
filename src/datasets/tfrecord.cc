// tfrecord(filenames): the records of TFRecord files, one file after the other, checksums verified.

#include "datasets/datasets.h"
#include "datasets/records.h"

namespace penstock {

OperatorDef tfrecord_operator() {
  RecordsFormat format;
  format.name = "tfrecord";
  format.doc = "The records of TFRecord files.";
  format.reader = [](std::string path, const ReaderOptions& options, const Attrs&) {
    return open_tfrecord(std::move(path), options);
  };
  return records_operator(std::move(format));
}

}  // namespace penstock

// fixed_length_record(filenames, record_bytes): pieces of one length between a header and a footer,
// one file after the other.
//
// A plain file whose body is no multiple of record_bytes gives one error and nothing else; the next
// file follows.

#include "datasets/datasets.h"
#include "datasets/records.h"

namespace penstock {

OperatorDef fixed_length_record_operator() {
  RecordsFormat format;
  format.name = "fixed_length_record";
  format.doc = "Records of one length, between a header and a footer that are left out.";
  format.leading = {required("record_bytes", Param::Kind::integer),
                    optional("header_bytes", Param::Kind::integer, Attr::integer(0)),
                    optional("footer_bytes", Param::Kind::integer, Attr::integer(0))};
  format.spec = [](const NodeDraft& draft) {
    draft.int_at_least("record_bytes", 1, "must be positive", 1);
    for (const std::string name : {"record_bytes", "header_bytes", "footer_bytes"}) {
      const int64_t bytes = draft.int_at_least(name, 0, "must not be negative", 0);
      if (bytes > kMaxRecordBytes) {
        NodeDraft::fail(name, "must be at most " + std::to_string(kMaxRecordBytes) + ": " +
                                  std::to_string(bytes));
      }
    }
    return Spec::tensor(DType::bytes, {});
  };
  format.reader = [](std::string path, const ReaderOptions& options, const Attrs& args) {
    return open_fixed_length(std::move(path), options,
                             {args["record_bytes"].as_int(), args["header_bytes"].as_int(),
                              args["footer_bytes"].as_int()});
  };
  return records_operator(std::move(format));
}

}  // namespace penstock

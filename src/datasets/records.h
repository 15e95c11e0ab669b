// Sources that give the records of files: what tfrecord and text_line share.
#pragma once

#include "io/record_reader.h"
#include "plan/node.h"
#include "runtime/open.h"

namespace penstock {

// Strings of an argument: one, or a list; captures are to be bound before.
std::vector<std::string> strings_of(const Attr& value);

using OpenReader = std::unique_ptr<RecordReader> (*)(std::string path,
                                                     const ReaderOptions& options);
OperatorDef records_operator(std::string name, std::string doc, OpenReader open);

}  // namespace penstock

// image_folder(folder): the image files of a folder of folders, not decoded, with the index of
// their folder as the label.
//
// Folders are numbered in the order of their names, files come in that order, too; shuffle draws an
// order anew in each pass. Files are known by their names (.jpg .jpeg .png .bmp .gif .webp);
// folders inside a class are looked into.

#include <algorithm>
#include <map>

#include "datasets/datasets.h"
#include "datasets/file_order.h"
#include "datasets/records.h"
#include "io/file_system.h"

namespace penstock {
namespace {

struct ImageFile {
  std::string path;
  int64_t label;
};

bool is_image(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return false;
  std::string extension(name.substr(dot));
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view known : {".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp"}) {
    if (extension == known) return true;
  }
  return false;
}

std::vector<ImageFile> images_in(const std::string& folder) {
  std::vector<ImageFile> out;
  const ResolvedName at = resolve_name("open", folder);
  FileSystem& files = *at.files;
  std::vector<std::string> classes;
  for (const FolderEntry& entry : files.list(at.name)) {
    const std::string name = joined_name(at.name, entry.name);
    if (files.kind_behind(name, entry.kind) == FileStatus::Kind::folder) classes.push_back(name);
  }
  std::ranges::sort(classes);
  for (size_t i = 0; i < classes.size(); ++i) {
    const size_t first = out.size();
    walk_folder(files, classes[i], [&](const std::string& name, FileStatus::Kind kind) {
      if (is_image(name) && files.kind_behind(name, kind) == FileStatus::Kind::file)
        out.push_back({name, static_cast<int64_t>(i)});
    });
    std::ranges::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(), {},
                      &ImageFile::path);
  }
  if (out.empty()) {
    throw Error(Code::not_found,
                "no image in a folder of \"" + folder + "\"; expected FOLDER/CLASS/*.jpg");
  }
  return out;
}

class LabelDecoder final : public RecordDecoder {
 public:
  explicit LabelDecoder(const std::vector<ImageFile>& files) {
    for (const ImageFile& f : files) labels_[f.path] = f.label;
  }

  void decode(std::span<const Record> records, std::span<const BufferRef> keeper,
              const std::string& path, Block* out) override {
    const auto rows = static_cast<int64_t>(records.size());
    Column image = Column::dense(DType::bytes, {}, rows);
    Column label = Column::dense(DType::int64, {}, rows);
    for (int64_t i = 0; i < rows; ++i) {
      const Record& r = records[static_cast<size_t>(i)];
      image.mutable_entries<BytesView>()[i] = {r.data, r.size};
      label.mutable_entries<int64_t>()[i] = labels_.at(path);
    }
    for (const BufferRef& buffer : keeper) image.mutable_buffer().keep(buffer);
    out->columns.push_back(std::move(image));
    out->columns.push_back(std::move(label));
  }

 private:
  std::map<std::string, int64_t> labels_;
};

}  // namespace

OperatorDef image_folder_operator() {
  OperatorDef op;
  op.name = "image_folder";
  op.doc = "The image files of FOLDER/CLASS/..., as bytes, with the index of their class.";
  op.params = {required("folder", Param::Kind::text),
               optional("shuffle", Param::Kind::boolean, Attr::boolean(false)),
               optional("seed", Param::Kind::integer, {})};
  op.source = true;
  op.infer = [](NodeDraft& draft) {
    draft.node.spec = Spec::dict({"image", "label"},
                                 {Spec::tensor(DType::bytes, {}), Spec::tensor(DType::int64, {})});
    draft.node.cardinality = kUnknown;
    try {
      draft.node.cardinality =
          static_cast<int64_t>(images_in(draft.node.args["folder"].as_string()).size());
    } catch (const Error&) {
      // The plan is good all the same; opening it is refused.
    }
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const std::vector<ImageFile> files = images_in(node->arg("folder").as_string());
    const Attr& seed = node->arg("seed");
    std::vector<std::string> paths;
    for (const size_t i :
         file_order(files.size(), node->arg("shuffle").as_bool(),
                    seed.is_none() ? 0 : static_cast<uint64_t>(seed.as_int()), context)) {
      paths.push_back(files[i].path);
    }
    return open_records(
        std::move(paths), node, context,
        [](const std::string& path) { return open_whole_file(path); },
        std::make_unique<LabelDecoder>(files));
  };
  return op;
}

}  // namespace penstock

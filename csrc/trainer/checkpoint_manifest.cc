#include "trainer/checkpoint_manifest.h"

#include <utility>

namespace hone::trainer {
namespace {

Json manifest_body(const CheckpointState& state, DType moments, const std::vector<CheckpointFile>& records, int64_t format) {
  Json body = Json::object(), optimizer = Json::object(), files = Json::array();
  optimizer.set("kind", Json::string(kind_name(state.optimizer_kind)));
  optimizer.set("moments", Json::string(dtype_name(moments)));
  optimizer.set("steps", Json::integer(state.optimizer_steps));
  for (const CheckpointFile& record : records) {
    Json file = Json::object();
    file.set("name", Json::string(record.name));
    file.set("bytes", Json::integer(record.bytes));
    file.set("sha256", Json::string(record.sha256));
    files.push(std::move(file));
  }
  body.set("format", Json::string("hone-checkpoint"));
  body.set("formatVersion", Json::integer(format));
  body.set("version", Json::integer(state.version));
  body.set("optimizer", std::move(optimizer));
  body.set("files", std::move(files));
  body.set("extra", Json::string(state.extra));
  return body;
}

const Json& member(const Json& json, const char* name, const std::string& where) {
  const Json* found = json.find(name);
  if (!found) fail(Code::kFormat, "%s: \"%s\" is missing.", where.c_str(), name);
  return *found;
}

/// Reads the manifest's body and verifies its own checksum.
Json read_body(const std::string& directory) {
  const std::string path = directory + "/" + kManifest;
  if (!model::exists(path)) {
    fail(Code::kFormat, "%s is missing: %s is not a checkpoint folder.", path.c_str(), directory.c_str());
  }
  const Json manifest = Json::parse(model::read_text(path), path.c_str());
  const std::string& stated = member(manifest, "sha256", path).as_string(path.c_str());
  Json body = member(manifest, "body", path);
  if (model::sha256_hex(body.dump()) != stated) fail(Code::kFormat, "%s was altered: its sha256 does not match.", path.c_str());
  const int64_t version = member(body, "formatVersion", path).as_int(path.c_str());
  if (version < kWholeFormat || version > kPieceFormat) {
    fail(Code::kUnsupported, "%s: formatVersion is %lld; this build reads up to %lld.", path.c_str(), (long long)version,
         (long long)kPieceFormat);
  }
  return body;
}

void verify_file(const std::string& directory, const Json& record) {
  const std::string where = directory + "/" + kManifest;
  const std::string path = directory + "/" + member(record, "name", where).as_string(where.c_str());
  if (!model::exists(path)) fail(Code::kFormat, "%s is missing from the checkpoint.", path.c_str());
  const int64_t wanted = member(record, "bytes", where).as_int(where.c_str());
  int64_t bytes = 0;
  const std::string hash = model::hash_file(path, bytes);
  if (bytes != wanted) {
    fail(Code::kFormat, "%s has %lld bytes, the manifest says %lld: truncated or overwritten.", path.c_str(),
         (long long)bytes, (long long)wanted);
  }
  if (hash != member(record, "sha256", where).as_string(where.c_str())) {
    fail(Code::kFormat, "%s was altered: its sha256 does not match the manifest.", path.c_str());
  }
}

}  // namespace

const char* kind_name(OptimizerConfig::Kind kind) { return kind == OptimizerConfig::Kind::kMuon ? "muon" : "adamw"; }

std::string manifest_text(const CheckpointState& state, DType moments, const std::vector<CheckpointFile>& files, int64_t format) {
  Json manifest = Json::object(), body = manifest_body(state, moments, files, format);
  manifest.set("sha256", Json::string(model::sha256_hex(body.dump())));
  manifest.set("body", std::move(body));
  return manifest.dump();
}

CheckpointContents read_manifest(const std::string& directory) {
  const std::string path = directory + "/" + kManifest;
  const Json body = read_body(directory);
  CheckpointContents out;
  for (const Json& record : member(body, "files", path).items(path.c_str())) {
    verify_file(directory, record);
    out.files.push_back(member(record, "name", path).as_string(path.c_str()));
  }
  const Json& saved = member(body, "optimizer", path);
  out.optimizer = member(saved, "kind", path).as_string(path.c_str());
  const Json* moments = saved.find("moments");  // older manifests lack this field; their moments are f32
  out.moments = moments ? moments->as_string(path.c_str()) : dtype_name(DType::kF32);
  out.state.optimizer_steps = member(saved, "steps", path).as_int(path.c_str());
  out.state.version = uint32_t(member(body, "version", path).as_int(path.c_str()));
  out.state.extra = member(body, "extra", path).as_string(path.c_str());
  return out;
}

}  // namespace hone::trainer

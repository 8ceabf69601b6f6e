#include "addon/communicator_object.h"

#include <cstring>
#include <utility>
#include <vector>

#include "addon/arguments.h"
#include "addon/errors.h"

namespace hone::addon {
namespace {

constexpr napi_type_tag kCommunicatorTag = {0x5b1e7a90c3d24f68ull, 0xa6f1084d9c7b32e5ull};

/// A copy of a typed array's contents, with its type.
struct Values {
  napi_typedarray_type type = napi_uint8_array;
  DType dtype = DType::kU8;
  std::vector<std::byte> bytes;

  int64_t count() const { return int64_t(bytes.size()) / dtype_bytes(dtype); }
  TensorView view() { return {bytes.data(), dtype, {count()}}; }
  /// Allocates `count` elements of the same type.
  Values room(int64_t count) const { return {type, dtype, std::vector<std::byte>(size_t(count * dtype_bytes(dtype)))}; }
};

DType dtype_of(napi_typedarray_type type, const char* what) {
  switch (type) {
    case napi_float32_array: return DType::kF32;
    case napi_float64_array: return DType::kF64;
    case napi_int32_array: return DType::kI32;
    case napi_bigint64_array: return DType::kI64;
    case napi_uint8_array: return DType::kU8;
    case napi_uint32_array: return DType::kU32;
    default: fail(Code::kShape, "%s: arrays of this type are not exchanged.", what);
  }
}

std::shared_ptr<Values> read_values(const Napi::Value& value, const char* what) {
  if (!value.IsTypedArray()) fail(Code::kShape, "%s: the first argument must be a typed array.", what);
  const auto array = value.As<Napi::TypedArray>();
  const auto values = std::make_shared<Values>();
  values->type = array.TypedArrayType();
  values->dtype = dtype_of(values->type, what);
  const auto* const begin = static_cast<const std::byte*>(array.ArrayBuffer().Data()) + array.ByteOffset();
  values->bytes.assign(begin, begin + array.ByteLength());
  return values;
}

Napi::Value new_values(Napi::Env env, const Values& values) {
  Napi::ArrayBuffer buffer = Napi::ArrayBuffer::New(env, values.bytes.size());
  if (!values.bytes.empty()) std::memcpy(buffer.Data(), values.bytes.data(), values.bytes.size());
  napi_value out = nullptr;
  if (napi_create_typedarray(env, values.type, size_t(values.count()), buffer, 0, &out) != napi_ok) {
    throw Napi::Error::New(env);
  }
  return Napi::Value(env, out);
}

JobResult result_of(std::shared_ptr<Values> values) {
  return [values](Napi::Env env) { return new_values(env, *values); };
}

dist::ReduceOp read_op(const Napi::Value& value, const char* what) {
  const std::string name = to_text(value, what);
  if (name == "sum") return dist::ReduceOp::kSum;
  if (name == "max") return dist::ReduceOp::kMax;
  fail(Code::kConfig, "%s: the operation is \"%s\", not \"sum\" or \"max\".", what, name.c_str());
}

CommunicatorSettings read_settings(const Napi::Value& value) {
  const Fields fields(value, "communicator");
  CommunicatorSettings settings;
  settings.host = fields.has("host") ? fields.text("host") : "127.0.0.1";
  settings.rank = fields.integer<int32_t>("rank");
  settings.size = fields.integer<int32_t>("size");
  settings.timeout = std::chrono::milliseconds(fields.integer<int32_t>("timeoutMs"));
  if (settings.timeout.count() < 1) fail(Code::kConfig, "communicator: timeoutMs must be positive.");
  return settings;
}

std::vector<std::string> read_blobs(const Napi::Value& value) {
  if (!value.IsArray()) fail(Code::kConfig, "connect: blobs must be an array, one of each rank.");
  const auto array = value.As<Napi::Array>();
  std::vector<std::string> blobs;
  for (uint32_t i = 0; i < array.Length(); ++i) {
    std::vector<uint8_t> bytes;
    copy_array(array.Get(i), "connect: blobs", bytes);
    blobs.emplace_back(bytes.begin(), bytes.end());
  }
  return blobs;
}

}  // namespace

Napi::Function CommunicatorObject::define(Napi::Env env) {
  using Self = CommunicatorObject;
  return DefineClass(
      env, "NativeCommunicator",
      {InstanceAccessor<&Self::rank>("rank"), InstanceAccessor<&Self::size>("size"),
       InstanceMethod<&Self::prepare>("prepare"), InstanceMethod<&Self::connect>("connect"),
       InstanceMethod<&Self::barrier>("barrier"), InstanceMethod<&Self::broadcast>("broadcast"),
       InstanceMethod<&Self::all_reduce>("allReduce"), InstanceMethod<&Self::reduce_scatter>("reduceScatter"),
       InstanceMethod<&Self::all_gather>("allGather"), InstanceMethod<&Self::all_to_all>("allToAll"),
       InstanceMethod<&Self::abort>("abort"), InstanceMethod<&Self::close>("close")});
}

CommunicatorObject& CommunicatorObject::from(const Napi::Value& value, const char* where) {
  if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&kCommunicatorTag)) {
    fail(Code::kConfig, "%s: the argument is not a NativeCommunicator.", where);
  }
  return *Unwrap(value.As<Napi::Object>());
}

CommunicatorObject::CommunicatorObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<CommunicatorObject>(info) {
  translated(info.Env(), [&] {
    auto thread = std::make_shared<CommunicatorThread>(read_settings(info[0]));
    thread->start(info.Env());
    thread_ = std::move(thread);
  });
  info.This().As<Napi::Object>().TypeTag(&kCommunicatorTag);
}

CommunicatorObject::~CommunicatorObject() {
  if (thread_) thread_->worker().abandon();
}

Napi::Value CommunicatorObject::rank(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), thread_->rank()); }
Napi::Value CommunicatorObject::size(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), thread_->size()); }

Napi::Value CommunicatorObject::prepare(const Napi::CallbackInfo& info) {
  return translated(info.Env(), [&]() -> Napi::Value {
    const std::vector<std::string> blobs = thread_->prepare();
    Napi::Array out = Napi::Array::New(info.Env(), blobs.size());
    for (size_t i = 0; i < blobs.size(); ++i) {
      out.Set(uint32_t(i), new_array<Napi::Uint8Array>(info.Env(), std::vector<uint8_t>(blobs[i].begin(), blobs[i].end())));
    }
    return out;
  });
}

Napi::Value CommunicatorObject::connect(const Napi::CallbackInfo& info) {
  std::vector<std::string> blobs = translated(info.Env(), [&] { return read_blobs(info[0]); });
  return thread_->connect(info.Env(), std::move(blobs));
}

Napi::Value CommunicatorObject::barrier(const Napi::CallbackInfo& info) {
  return thread_->run(info.Env(), [](dist::Communicator& group) -> JobResult {
    uint8_t here = 1;
    group.all_reduce({}, u8(&here, {1}), dist::ReduceOp::kMax);
    group.wait({});
    return nullptr;
  });
}

Napi::Value CommunicatorObject::broadcast(const Napi::CallbackInfo& info) {
  std::shared_ptr<Values> values;
  int root = 0;
  translated(info.Env(), [&] {
    values = read_values(info[0], "broadcast");
    root = int(std::min<uint64_t>(to_id(info[1], "broadcast: root"), INT32_MAX));
  });
  return thread_->run(info.Env(), [values, root](dist::Communicator& group) {
    group.broadcast({}, values->view(), root);
    group.wait({});
    return result_of(values);
  });
}

Napi::Value CommunicatorObject::all_reduce(const Napi::CallbackInfo& info) {
  std::shared_ptr<Values> values;
  dist::ReduceOp op = dist::ReduceOp::kSum;
  translated(info.Env(), [&] {
    values = read_values(info[0], "allReduce");
    op = read_op(info[1], "allReduce");
  });
  return thread_->run(info.Env(), [values, op](dist::Communicator& group) {
    group.all_reduce({}, values->view(), op);
    group.wait({});
    return result_of(values);
  });
}

Napi::Value CommunicatorObject::reduce_scatter(const Napi::CallbackInfo& info) {
  std::shared_ptr<Values> values;
  dist::ReduceOp op = dist::ReduceOp::kSum;
  translated(info.Env(), [&] {
    values = read_values(info[0], "reduceScatter");
    op = read_op(info[1], "reduceScatter");
  });
  return thread_->run(info.Env(), [values, op](dist::Communicator& group) {
    const auto part = std::make_shared<Values>(values->room(values->count() / group.size()));
    group.reduce_scatter({}, values->view(), part->view(), op);
    group.wait({});
    return result_of(part);
  });
}

Napi::Value CommunicatorObject::all_gather(const Napi::CallbackInfo& info) {
  const auto values = translated(info.Env(), [&] { return read_values(info[0], "allGather"); });
  return thread_->run(info.Env(), [values](dist::Communicator& group) {
    const auto all = std::make_shared<Values>(values->room(values->count() * group.size()));
    group.all_gather({}, values->view(), all->view());
    group.wait({});
    return result_of(all);
  });
}

Napi::Value CommunicatorObject::all_to_all(const Napi::CallbackInfo& info) {
  const auto values = translated(info.Env(), [&] { return read_values(info[0], "allToAll"); });
  return thread_->run(info.Env(), [values](dist::Communicator& group) {
    const auto swapped = std::make_shared<Values>(values->room(values->count()));
    group.all_to_all({}, values->view(), swapped->view());
    group.wait({});
    return result_of(swapped);
  });
}

void CommunicatorObject::abort(const Napi::CallbackInfo& info) {
  translated(info.Env(), [&] { thread_->abort(to_text(info[0], "abort: reason")); });
}

Napi::Value CommunicatorObject::close(const Napi::CallbackInfo& info) { return thread_->close(info.Env()); }

}  // namespace hone::addon

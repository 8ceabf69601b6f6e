// Copies, shared arrays and streams behave the same on the CPU and on whatever device the process has. Faults
// put into the code, each detected: copy_rows uses the source's pitch for the destination, or does not
// compare sizes; zero is one byte short.
#include "core/device.h"

#include <vector>

#include "check.h"
#include "core/device_query.h"
#include "device.h"

namespace core_device_test {

using namespace hone;
using namespace hone::test;

namespace {

/// The CPU, and a GPU if there is one (a real one or the host shim).
std::vector<Stream::Backend> backends() {
  std::vector<Stream::Backend> all{Stream::Backend::kCpu};
  if (!query_cuda().devices.empty()) all.push_back(Stream::Backend::kCuda);
  return all;
}

}  // namespace

TEST(a_gpu_that_is_not_there_is_refused_with_reason_and_next_step) {
  if (!query_cuda().devices.empty()) SKIP("there is a device");
  std::string message;
  try {
    Device device(Stream::Backend::kCuda, nullptr);
  } catch (const Error& e) {
    EXPECT_TRUE(e.code() == Code::kCuda);
    message = e.what();
  }
  EXPECT_EQ(message, "device \"cuda\" was asked for, but " + query_cuda().reason +
                         ". Run `npx hone doctor`, or ask for device \"cpu\".");
}

TEST(a_stream_held_by_an_event_starts_after_what_was_recorded) {
  for (const Stream::Backend backend : backends()) {
    const Device first(backend, nullptr), second(backend, nullptr);
    Arena arena(3 * 4096, "test", tensor_memory(first.stream()));
    float* const a = arena.take_array<float>(1000);
    float* const b = arena.take_array<float>(1000);
    Arena host(4096, "test", backend == Stream::Backend::kCuda ? Memory::kPinned : Memory::kHost);
    float* const down = host.take_array<float>(1000);
    int early = 0;
    for (int trial = 0; trial < 40; ++trial) {
      const bool held = trial % 2 == 0;
      const std::vector<float> in = random_floats(1000);
      upload(first.stream(), a, in.data(), 4000);
      synchronize(first.stream());
      zero(first.stream(), b, 4000);
      synchronize(first.stream());
#ifdef HONE_CUDA_SHIM
      if (backend == Stream::Backend::kCuda) cuda_shim::defer_streams(true);
#endif
      Event copied(first.stream());
      copied.hold(second.stream());  // nothing was recorded, so nothing has to wait
      copy(first.stream(), b, a, 4000);
      copied.record(first.stream());
      if (held) copied.hold(second.stream());
      copy(second.stream(), down, b, 4000);
      zero(first.stream(), a, 4000);
      synchronize(second.stream());
      const bool right = std::vector<float>(down, down + 1000) == in;
      EXPECT_TRUE(right || !held);
      early += !right;
      synchronize(first.stream());
#ifdef HONE_CUDA_SHIM
      cuda_shim::defer_streams(false);
#endif
    }
#ifdef HONE_CUDA_SHIM
    EXPECT_TRUE((early > 0) == (backend == Stream::Backend::kCuda));  // deferred streams do run independently
#endif
    (void)early;
  }
}

TEST(what_goes_up_comes_down) {
  for (const Stream::Backend backend : backends()) {
    const Device device(backend, nullptr);
    const Stream& stream = device.stream();
    const std::vector<float> in = random_floats(1000);
    Arena arena(3 * 4096, "test", tensor_memory(stream));
    float* const a = arena.take_array<float>(1000);
    float* const b = arena.take_array<float>(1000);
    upload(stream, a, in.data(), 4000);
    copy(stream, b, a, 4000);
    zero(stream, a, 3996);
    std::vector<float> out = poison(1000), rest = poison(1000);
    download(stream, out.data(), b, 4000);
    download(stream, rest.data(), a, 4000);
    EXPECT_TRUE(out == in);
    std::vector<float> wanted(1000, 0.0f);
    wanted.back() = in.back();
    EXPECT_TRUE(rest == wanted);
  }
}

TEST(rows_are_copied_between_any_two_strides) {
  for (const Stream::Backend backend : backends()) {
    const Device device(backend, nullptr);
    const Stream& stream = device.stream();
    for (const int64_t from_stride : {3, 7}) {
      for (const int64_t to_stride : {3, 5}) {
        const std::vector<float> in = random_floats(4 * from_stride);
        std::vector<float> out(size_t(4 * to_stride), -1.0f);
        Arena arena(2048, "test", tensor_memory(stream));
        TensorView from = f32(arena.take_array<float>(4 * from_stride), {4, 3});
        TensorView to = f32(arena.take_array<float>(4 * to_stride), {4, 3});
        from.row_stride = from_stride, to.row_stride = to_stride;
        upload(stream, from.data, in.data(), int64_t(in.size()) * 4);
        upload(stream, to.data, out.data(), int64_t(out.size()) * 4);
        copy_rows(stream, from, to);
        download(stream, out.data(), to.data, int64_t(out.size()) * 4);
        for (int64_t r = 0; r < 4; ++r) {
          for (int64_t i = 0; i < to_stride; ++i) {
            EXPECT_EQ(out[size_t(r * to_stride + i)], i < 3 ? in[size_t(r * from_stride + i)] : -1.0f);
          }
        }
      }
    }
  }
}

TEST(many_rows_are_copied_by_all_threads) {
  ThreadPool pool(3);
  const Stream stream{.pool = &pool};
  const int64_t rows = 1501, width = 96;  // 576 KB, which are five chunks
  const std::vector<float> in = random_floats(rows * 100);
  for (const int64_t from_stride : {96, 100}) {
    for (const int64_t to_stride : {96, 97}) {
      std::vector<float> out(size_t(rows * to_stride), -1.0f);
      TensorView from = f32(in.data(), {rows, width}), to = f32(out.data(), {rows, width});
      from.row_stride = from_stride, to.row_stride = to_stride;
      copy_rows(stream, from, to);
      int64_t wrong = 0;
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t i = 0; i < to_stride; ++i) {
          wrong += out[size_t(r * to_stride + i)] != (i < width ? in[size_t(r * from_stride + i)] : -1.0f);
        }
      }
      EXPECT_EQ(wrong, 0);
    }
  }
}

TEST(rows_of_another_shape_or_dtype_are_refused) {
  float memory[12] = {};
  EXPECT_THROWS(copy_rows(Stream{}, f32(memory, {2, 3}), f32(memory + 6, {2, 2})), Code::kShape);
  EXPECT_THROWS(copy_rows(Stream{}, f32(memory, {2, 2}), f32(memory + 6, {1, 4})), Code::kShape);
  EXPECT_THROWS(copy_rows(Stream{}, f32(memory, {2, 3}), i32(reinterpret_cast<int32_t*>(memory + 6), {2, 3})), Code::kShape);
}

TEST(shared_arrays_travel_in_the_range_that_is_named) {
  for (const Stream::Backend backend : backends()) {
    const Device device(backend, nullptr);
    const Stream& stream = device.stream();
    SharedArrays arrays(stream, 4096, "test");
    const auto first = arrays.take<int32_t>(10);
    const int64_t begin = arrays.used();
    const auto second = arrays.take<float>(20);
    const int64_t end = arrays.used();
    EXPECT_EQ(second.size, 20);
    for (int32_t i = 0; i < 10; ++i) first.host[i] = i;
    for (int32_t i = 0; i < 20; ++i) second.host[i] = float(100 + i);
    arrays.upload(stream, 0, end);
    for (int32_t i = 0; i < 10; ++i) first.host[i] = -1;
    for (int32_t i = 0; i < 20; ++i) second.host[i] = -1;
    arrays.download(stream, begin, end);
    for (int32_t i = 0; i < 10; ++i) EXPECT_EQ(first.host[i], -1);
    const bool travels = stream.is_cuda();
    for (int32_t i = 0; i < 20; ++i) EXPECT_EQ(second.host[i], travels ? float(100 + i) : -1.0f);
    EXPECT_EQ(static_cast<void*>(second.host) == static_cast<void*>(second.device), !travels);
    arrays.clear();
    EXPECT_EQ(arrays.take<int32_t>(10).host, first.host);
    EXPECT_THROWS(arrays.take<float>(4096), Code::kOutOfMemory);
  }
}

TEST(a_stream_says_what_its_tensors_are) {
  EXPECT_TRUE(activation_dtype(Stream{}) == DType::kF32 && tensor_memory(Stream{}) == Memory::kHost);
  const Stream cuda{Stream::Backend::kCuda};
  EXPECT_TRUE(activation_dtype(cuda) == DType::kBF16 && tensor_memory(cuda) == Memory::kDevice);
}

TEST(a_graph_is_recorded_only_where_work_can_be_done_again) {
  Graph graph;
  bool ran = false;
  EXPECT_TRUE(!graph.record(Stream{}, [&] { ran = true; }));
  EXPECT_TRUE(!ran && !graph.recorded());
  EXPECT_THROWS(graph.launch(Stream{}), Code::kInternal);
}

}  // namespace core_device_test

// Pictures for JavaScript: read, written; now, or on a thread of Node's pool while the program goes on.
#include "pictures.hpp"

#include <cstdio>
#include <functional>
#include <utility>

#include "bridge.hpp"

// The libraries' `stderr`: see CMakeLists.txt.
extern "C" {
extern std::FILE* ebb_pictures_stderr;
std::FILE* ebb_pictures_stderr = stderr;
}

namespace ebb::node {
namespace {

enum Kind { kJpeg, kPng };

std::span<std::uint8_t> bytes_of(napi_env env, napi_value array) {
  napi_typedarray_type type;
  std::size_t length = 0;
  void* data = nullptr;
  must(napi_get_typedarray_info(env, array, &type, &length, &data, nullptr, nullptr));
  const std::size_t width = type == napi_int32_array ? 4 : 1;
  return {static_cast<std::uint8_t*>(data), length * width};
}

// What is to be done apart from JavaScript, and what JavaScript gets for it.
class Task {
 public:
  explicit Task(std::function<Samples()> work) : work_(std::move(work)) {}

  void run() noexcept {
    try {
      result_ = work_();
    } catch (const std::exception& error) {
      error_ = error.what();
      if (error_.empty()) error_ = "unknown";
    }
  }

  // The result, or null with an exception pending.
  napi_value finish(napi_env env) {
    if (!error_.empty()) {
      napi_throw_error(env, "EBB_INVALID_ARGUMENT", error_.c_str());
      return nullptr;
    }
    napi_value result;
    must(napi_create_buffer_copy(env, result_.size(), result_.data(), nullptr, &result));
    return result;
  }

  // Runs on a thread of the pool; `held` stays where it is until then. A promise of the result.
  static napi_value later(napi_env env, std::function<Samples()> work, napi_value held) {
    auto task = std::make_unique<Task>(std::move(work));
    napi_value promise, name;
    must(napi_create_string_utf8(env, "ebb-tfjs picture", NAPI_AUTO_LENGTH, &name));
    must(napi_create_reference(env, held, 1, &task->held_));
    try {
      must(
          napi_create_async_work(env, nullptr, name, execute, complete, task.get(), &task->async_));
      must(napi_create_promise(env, &task->deferred_, &promise));
      must(napi_queue_async_work(env, task->async_));
    } catch (const NodeApiFailure&) {
      if (task->async_ != nullptr) napi_delete_async_work(env, task->async_);
      napi_delete_reference(env, task->held_);
      throw;
    }
    task.release();
    return promise;
  }

 private:
  static void execute(napi_env, void* task) { static_cast<Task*>(task)->run(); }

  static void complete(napi_env env, napi_status, void* data) {
    const std::unique_ptr<Task> task(static_cast<Task*>(data));
    napi_delete_async_work(env, task->async_);
    napi_delete_reference(env, task->held_);
    const napi_value result = guarded_result(env, *task);
    if (result != nullptr) {
      napi_resolve_deferred(env, task->deferred_, result);
      return;
    }
    napi_value error;
    if (napi_get_and_clear_last_exception(env, &error) == napi_ok)
      napi_reject_deferred(env, task->deferred_, error);
  }

  // As `guarded` does it for calls.
  static napi_value guarded_result(napi_env env, Task& task) noexcept {
    try {
      return task.finish(env);
    } catch (const std::exception& error) {
      napi_throw_error(env, "EBB_INTERNAL", error.what());
      return nullptr;
    }
  }

  std::function<Samples()> work_;
  Samples result_;
  std::string error_;
  napi_deferred deferred_ = nullptr;
  napi_ref held_ = nullptr;
  napi_async_work async_ = nullptr;
};

std::unique_ptr<PictureReader> open(Kind kind, std::span<const std::uint8_t> bytes,
                                    const Arguments<8>& given) {
  Samples copy(bytes.begin(), bytes.end());  // JavaScript may take its own away meanwhile
  const auto channels = given.integer<std::uint32_t>(2);
  if (kind == kPng) return open_png(std::move(copy), channels);
  return open_jpeg(std::move(copy), {.channels = channels,
                                     .ratio = given.integer<std::uint32_t>(3),
                                     .fancy_upscaling = given.boolean(4),
                                     .recover_truncated = given.boolean(5),
                                     .acceptable_fraction = given.number(6),
                                     .fast_dct = given.boolean(7)});
}

// pictureOpen(kind, bytes, channels, ratio, fancyUpscaling, recoverTruncated, acceptableFraction,
// fastDct) -> what the other two take
napi_value picture_open(napi_env env, napi_callback_info info) {
  const Arguments<8> arguments(env, info);
  std::unique_ptr<PictureReader> reader;
  try {
    reader = open(static_cast<Kind>(arguments.integer<int>(0)), bytes_of(env, arguments.values[1]),
                  arguments);
  } catch (const std::exception& error) {
    napi_throw_error(env, "EBB_INVALID_ARGUMENT", error.what());
    return nullptr;
  }
  napi_value external;
  const auto drop = [](node_api_basic_env, void* data, void*) {
    std::unique_ptr<PictureReader>(static_cast<PictureReader*>(data)).reset();
  };
  must(napi_create_external(env, reader.get(), drop, nullptr, &external));
  reader.release();
  return external;
}

PictureReader* reader_of(napi_env env, napi_value external) {
  void* data = nullptr;
  must(napi_get_value_external(env, external, &data));
  return static_cast<PictureReader*>(data);
}

// pictureShape(picture) -> [height, width, channels]
napi_value picture_shape(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  const Extents extents = reader_of(env, arguments.values[0])->extents;
  napi_value shape;
  must(napi_create_array_with_length(env, 3, &shape));
  must(napi_set_element(env, shape, 0, to_js(env, extents.height)));
  must(napi_set_element(env, shape, 1, to_js(env, extents.width)));
  must(napi_set_element(env, shape, 2, to_js(env, extents.channels)));
  return shape;
}

// pictureDecode(picture, into, later): fills an Int32Array of that many elements
napi_value picture_decode(napi_env env, napi_callback_info info) {
  const Arguments<3> arguments(env, info);
  PictureReader* reader = reader_of(env, arguments.values[0]);
  const std::span<std::uint8_t> into = bytes_of(env, arguments.values[1]);
  if (into.size() != reader->extents.size() * sizeof(std::int32_t)) {
    napi_throw_error(env, "EBB_INTERNAL", "the array has another size than the picture");
    return nullptr;
  }
  auto work = [reader, into] {
    reader->decode(reinterpret_cast<std::int32_t*>(into.data()));
    return Samples{};
  };
  if (!arguments.boolean(2)) {
    Task task(work);
    task.run();
    return task.finish(env);
  }
  napi_value held;
  must(napi_create_array_with_length(env, 2, &held));
  must(napi_set_element(env, held, 0, arguments.values[0]));
  must(napi_set_element(env, held, 1, arguments.values[1]));
  return Task::later(env, work, held);
}

// pictureEncode(kind, samples, height, width, channels, settings, xmp) -> a promise of the bytes. The
// settings: for PNG the compression; for JPEG whether gray, quality, progressive, optimize, downsample
// chroma, per centimetre, x density, y density.
napi_value picture_encode(napi_env env, napi_callback_info info) {
  const Arguments<7> arguments(env, info);
  const std::span<const std::uint8_t> samples = bytes_of(env, arguments.values[1]);
  const Extents extents{.width = arguments.integer<std::uint32_t>(3),
                        .height = arguments.integer<std::uint32_t>(2),
                        .channels = arguments.integer<std::uint32_t>(4)};
  const auto setting = [&](std::uint32_t index) {
    napi_value value;
    double number = 0;
    must(napi_get_element(env, arguments.values[5], index, &value));
    must(napi_get_value_double(env, value, &number));
    return static_cast<int>(number);
  };
  if (arguments.integer<int>(0) == kPng) {
    const int compression = setting(0);
    return Task::later(
        env, [=] { return encode_png(samples, extents, compression); }, arguments.values[1]);
  }
  const std::span<const std::uint8_t> given = bytes_of(env, arguments.values[6]);
  const Samples xmp(given.begin(), given.end());
  JpegEncode options{.grayscale = setting(0) != 0,
                     .quality = setting(1),
                     .progressive = setting(2) != 0,
                     .optimize = setting(3) != 0,
                     .downsample_chroma = setting(4) != 0,
                     .per_centimetre = setting(5) != 0,
                     .x_density = static_cast<std::uint32_t>(setting(6)),
                     .y_density = static_cast<std::uint32_t>(setting(7)),
                     .xmp = {}};
  return Task::later(
      env,
      [=]() mutable {
        options.xmp = xmp;
        return encode_jpeg(samples, extents, options);
      },
      arguments.values[1]);
}

}  // namespace

void export_pictures(napi_env env, World& world, napi_value exports) {
  export_function<picture_open>(env, world, exports, "pictureOpen");
  export_function<picture_shape>(env, world, exports, "pictureShape");
  export_function<picture_decode>(env, world, exports, "pictureDecode");
  export_function<picture_encode>(env, world, exports, "pictureEncode");
}

}  // namespace ebb::node

// Tensors as C++ values, and files of them.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "ebb/ebb.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"

namespace ebb::test {
namespace {

using Floats = std::vector<float>;

TEST(TensorApi, OperatorsAndFunctions) {
  Session session;
  const Tensor x = tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
  const Tensor y = ops::relu(x - 2.5) + x * 2;
  EXPECT_EQ(y.to_vector<float>(), (Floats{2, 4, 6.5f, 9.5f}));
  EXPECT_EQ((1 - x / 2).to_vector<float>(), (Floats{0.5f, 0, -0.5f, -1}));
  EXPECT_EQ(ops::sum(y, {0, 1}, false).item<float>(), 22.0f);
  EXPECT_EQ(ops::top_k(x, 1, true)[1].to_vector<std::int32_t>(), (std::vector<std::int32_t>{1, 1}));
  EXPECT_EQ(ops::concat({x, x}, 0).shape(), (Shape{4, 2}));
  EXPECT_EQ(ops::equal(x, x).to_vector<std::uint8_t>(), (std::vector<std::uint8_t>(4, 1)));
}

TEST(TensorApi, CopiesShareAndEndOnTheirOwn) {
  Session session;
  Context& context = session.context();
  Tensor a = tensor({1.0f, 2.0f}, {2});
  {
    const Tensor b = a;
    EXPECT_EQ(context.memory().books.live, 2u);
    EXPECT_EQ(context.memory().books.storages.count, 1u);
    a = Tensor();
    EXPECT_EQ(b.to_vector<float>(), (Floats{1, 2}));
  }
  EXPECT_EQ(context.memory().books.live, 0u);
}

TEST(TensorApi, ScopesEndWhatIsMadeInThem) {
  Session session;
  Tensor kept, dropped;
  {
    Scope scope("step");
    kept = scope.keep(tensor({3.0f}, {1}) * 2);
    dropped = tensor({1.0f}, {1});
  }
  EXPECT_EQ(kept.item<float>(), 6.0f);
  EXPECT_ERROR(dropped.to_vector<float>(), kStaleHandle, "has ended");
  EXPECT_EQ(session.context().memory().books.live, 1u);
}

TEST(TensorApi, SaysWhatIsWrong) {
  EXPECT_ERROR(tensor({1.0f}, {1}), kWrongState, "[session]");
  Session session;
  EXPECT_ERROR(tensor({1.0f}, {2}), kInvalidArgument, "1 elements", "[2]");
  EXPECT_ERROR(tensor({1.0f}, {1}).to_vector<double>(), kInvalidArgument, "float64", "float32");
  EXPECT_ERROR(tensor({1.0f, 2.0f}, {2}).item<float>(), kInvalidArgument, "one element");
  EXPECT_ERROR(Tensor().shape(), kInvalidArgument, "none");
}

class Files : public testing::Test {
 protected:
  Files() { std::filesystem::create_directories(folder_); }
  ~Files() override { std::filesystem::remove_all(folder_); }
  std::string at(const std::string& name) const { return folder_ + "/" + name; }
  void put(const std::string& name, const std::string& bytes) const {
    std::FILE* file = std::fopen(at(name).c_str(), "wb");
    std::fwrite(bytes.data(), 1, bytes.size(), file);
    std::fclose(file);
  }

  const std::string folder_ = testing::TempDir() + "ebb_files";
  Session session_;
};

TEST_F(Files, NpyComesBackToTheBit) {
  for (const DType dtype :
       {DType::kFloat32, DType::kInt32, DType::kBool, DType::kComplex64, DType::kFloat64,
        DType::kInt64, DType::kUint8, DType::kFloat16, DType::kInt8}) {
    const Tensor made = ops::cast(tensor({1.0f, 0.0f, 3.0f, 4.0f, 5.0f, 6.0f}, {2, 3}), dtype);
    save_npy(at("x.npy"), made);
    const Tensor again = load_npy(at("x.npy"));
    EXPECT_EQ(again.dtype(), dtype);
    EXPECT_EQ(again.shape(), (Shape{2, 3}));
    std::vector<std::byte> a(6 * size_of(dtype)), b(a.size());
    made.read(a);
    again.read(b);
    EXPECT_EQ(a, b) << name_of(dtype);
  }
  save_npy(at("scalar.npy"), scalar(2.5f));
  EXPECT_EQ(load_npy(at("scalar.npy")).shape(), Shape{});
  save_npy(at("empty.npy"), tensor(Floats{}, {0, 3}));
  EXPECT_EQ(load_npy(at("empty.npy")).shape(), (Shape{0, 3}));
}

std::string npy(const std::string& header, const std::string& data) {
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  return bytes + header + data;
}

TEST_F(Files, NpyInFortranOrder) {
  put("f.npy", npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", "adbecf"));
  const auto values = load_npy(at("f.npy")).to_vector<std::uint8_t>();
  EXPECT_EQ(std::string(values.begin(), values.end()), "abcdef");
}

TEST_F(Files, BadNpyIsNamed) {
  EXPECT_ERROR(load_npy(at("none.npy")), kDevice, "none.npy");
  put("bad.npy", "not a npy file");
  EXPECT_ERROR(load_npy(at("bad.npy")), kInvalidArgument, "bad.npy", "not a .npy file");
  put("bad.npy", npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }\n", "12345678"));
  EXPECT_ERROR(load_npy(at("bad.npy")), kInvalidArgument, ">f4");
  put("bad.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", "1234"));
  EXPECT_ERROR(load_npy(at("bad.npy")), kInvalidArgument, "ends early");
  put("bad.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }\n", "1234"));
  EXPECT_ERROR(load_npy(at("bad.npy")), kInvalidArgument, "tuple of extents");
}

TEST_F(Files, SafetensorsComeBackToTheBit) {
  std::map<std::string, Tensor> model;
  model["weights"] = tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
  model["half"] = ops::cast(tensor({0.5f, 1.5f}, {2}), DType::kBfloat16);
  model["ids"] = tensor({1, 2, 3}, {3});
  model["none"] = tensor(Floats{}, {0});
  save_safetensors(at("m.safetensors"), model);
  const auto again = load_safetensors(at("m.safetensors"));
  ASSERT_EQ(again.size(), 4u);
  EXPECT_EQ(again.at("weights").to_vector<float>(), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(again.at("ids").to_vector<std::int32_t>(), (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_EQ(again.at("half").dtype(), DType::kBfloat16);
  EXPECT_EQ(ops::cast(again.at("half"), DType::kFloat32).to_vector<float>(), (Floats{0.5f, 1.5f}));
  EXPECT_EQ(again.at("none").shape(), Shape{0});
}

TEST_F(Files, BadSafetensorsAreNamed) {
  put("bad.safetensors", std::string("\x04\0\0\0\0\0\0\0{x}}", 12));
  EXPECT_ERROR(load_safetensors(at("bad.safetensors")), kInvalidArgument, "does not read");
  const std::string header = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  put("bad.safetensors", bytes + header + "1234");
  EXPECT_ERROR(load_safetensors(at("bad.safetensors")), kInvalidArgument, "a has as many bytes");
  std::map<std::string, Tensor> model;
  model["c"] = ops::cast(scalar(1.0f), DType::kComplex64);
  EXPECT_ERROR(save_safetensors(at("c.safetensors"), model), kInvalidArgument, "c is complex64");
  EXPECT_FALSE(std::filesystem::exists(at("c.safetensors")));
}

}  // namespace
}  // namespace ebb::test

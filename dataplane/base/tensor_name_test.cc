#include "dataplane/base/tensor_name.h"

#include <gtest/gtest.h>

#include <string>

namespace tictac {
namespace {

struct Case {
  std::string wire;
  std::optional<uint64_t> edge;
  std::string canonical;
};

TEST(TensorName, TakesOffOnePrefixAndOneSuffix) {
  const Case cases[] = {
      {"edge_23_layer2/biases/read", 23, "layer2/biases"},
      {"edge_16_v/cg/affine1/biases", 16, "v/cg/affine1/biases"},
      {"edge_12_edge_5_x/read", 12, "edge_5_x"},
      {"emb/part_10/read", std::nullopt, "emb/part_10"},
      {"edge_27_MatMul_4/ReadVariableOp", 27, "MatMul_4/ReadVariableOp"},
      {"edge_13__arg_X_0_0", 13, "_arg_X_0_0"},
      {"Placeholder_112:0", std::nullopt, "Placeholder_112:0"},
      {"edge_x_y", std::nullopt, "edge_x_y"},
      {"edge_7", std::nullopt, "edge_7"},
      {"edge_7_", 7, ""},
      {"edge_99999999999999999999_w", std::nullopt, "edge_99999999999999999999_w"},
      {"edge_3_a/read/read", 3, "a/read"},
      {"/read", std::nullopt, "/read"},
      {"", std::nullopt, ""},
      {"edge_1_\xff\xfe/read", 1, "\xff\xfe"},
  };
  for (const Case& c : cases) {
    const TensorName name = parse_tensor_name(c.wire);
    EXPECT_EQ(name.edge, c.edge) << c.wire;
    EXPECT_EQ(name.canonical, c.canonical) << c.wire;
  }
}

}  // namespace
}  // namespace tictac

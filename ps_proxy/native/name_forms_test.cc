#include "ps_proxy/native/name_forms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tictac::native {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> forms(std::string_view name) {
  std::vector<std::string> all;
  for (const std::string_view form : forms_of(name)) all.emplace_back(form);
  return all;
}

TEST(NameForms, TakesOffOneEdgeAndOneSuffix) {
  EXPECT_THAT(forms("w"), ElementsAre("w"));
  EXPECT_THAT(forms("edge_16_v/cg/affine1/biases"),
              ElementsAre("edge_16_v/cg/affine1/biases", "v/cg/affine1/biases"));
  EXPECT_THAT(forms("edge_50_v/conv0/kernel/read"),
              ElementsAre("edge_50_v/conv0/kernel/read", "v/conv0/kernel/read", "v/conv0/kernel"));
  EXPECT_THAT(forms("edge_7_dense/kernel/Read/ReadVariableOp"),
              ElementsAre("edge_7_dense/kernel/Read/ReadVariableOp", "dense/kernel/Read/ReadVariableOp",
                          "dense/kernel"));
  EXPECT_THAT(forms("edge_9_dense/MatMul/ReadVariableOp"),
              ElementsAre("edge_9_dense/MatMul/ReadVariableOp", "dense/MatMul/ReadVariableOp"));
}

TEST(NameForms, NamesThatTrapAParser) {
  EXPECT_THAT(forms("edge_12_edge_5_x/read"),
              ElementsAre("edge_12_edge_5_x/read", "edge_5_x/read", "edge_5_x"));
  EXPECT_THAT(forms("/read"), ElementsAre("/read"));
  EXPECT_THAT(forms("edge_8_"), ElementsAre("edge_8_"));
  EXPECT_THAT(forms("edge_x_y"), ElementsAre("edge_x_y"));
  EXPECT_THAT(forms("Placeholder_112:0"), ElementsAre("Placeholder_112:0"));
  EXPECT_THAT(forms("\xff\xfe/read"), ElementsAre("\xff\xfe/read", "\xff\xfe"));
}

TEST(AutoKeys, NumberOfTheEdgeOrNone) {
  EXPECT_EQ(auto_key("edge_23_layer2/biases/read"), (AutoKey{false, 23}));
  EXPECT_EQ(auto_key("edge_103_gradients/MatMul_2_grad/tuple/control_dependency_1"), (AutoKey{true, 103}));
  EXPECT_EQ(auto_key("w"), std::nullopt);
  EXPECT_EQ(auto_key("edge__w"), std::nullopt);
  EXPECT_EQ(auto_key("edge_99999999999999999999999_w"), std::nullopt);
}

TEST(AutoKeys, ParametersAscendThenGradientsDescend) {
  EXPECT_LT((AutoKey{false, 2}), (AutoKey{false, 3}));
  EXPECT_LT((AutoKey{false, 900}), (AutoKey{true, 5}));
  EXPECT_LT((AutoKey{true, 7}), (AutoKey{true, 5}));
}

}  // namespace
}  // namespace tictac::native

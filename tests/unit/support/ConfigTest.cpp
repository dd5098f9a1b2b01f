#include "tilewright/support/Config.h"

#include <gtest/gtest.h>

using namespace tilewright;

TEST(Config, PrintsWhatItReads) {
  const auto config = Config::parse("num_warps=4, BLOCK=128,fast=true,scale=0.5,mode=best");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->toString(), "BLOCK=128,fast=true,mode=best,num_warps=4,scale=0.5");
  EXPECT_EQ(*Config::parse(config->toString()), *config);
  EXPECT_EQ(config->integer("BLOCK"), 128);
  EXPECT_EQ(config->integer("fast"), 1);
  EXPECT_FALSE(config->integer("mode"));
}

TEST(Config, RefusesWhatIsNotASetting) {
  for (const char *text : {"BLOCK", "=4", "BLOCK=", "A=1,A=2", "A=1,"}) {
    const auto config = Config::parse(text);
    ASSERT_FALSE(config) << text;
    EXPECT_EQ(config.error().code, "arg.syntax");
  }
}

#include "TestSource.h"

namespace tilewright::lang {
namespace {

TEST(LangEncoding, NulBytes) {
  const std::string text("x = 1\ny\0 = 2\n", 13);
  EXPECT_EQ(codeOf(text), "lang.encoding");
  EXPECT_EQ(errorOf(text), "2:2: the source holds a NUL byte");
}

TEST(LangEncoding, InvalidUtf8) {
  EXPECT_EQ(codeOf("x = '\xff'\n"), "lang.encoding");
  EXPECT_EQ(errorOf("x = 'ab\xc3'\n"), "1:8: byte 0xc3 is not valid UTF-8 here");
  EXPECT_EQ(codeOf("# \xed\xa0\x80\n"), "lang.encoding"); // a surrogate
  EXPECT_EQ(codeOf("# \xc0\x80\n"), "lang.encoding");     // overlong
  EXPECT_EQ(codeOf("# \xf4\x90\x80\x80\n"), "lang.encoding");
}

TEST(LangEncoding, Latin1Cookie) {
  const Module module = parsed("# -*- coding: latin-1 -*-\nx = '\xe9'\n");
  EXPECT_EQ(*cast<Constant>(cast<Assign>(module.body[0])->value)->asStr(), "\xc3\xa9");
  EXPECT_EQ(module.body[0]->range.text(), "x = '\xc3\xa9'");
  EXPECT_EQ(codeOf("#!/usr/bin/python\n# vim: set fileencoding=iso-8859-1 :\nx = '\xe9'\n"), "ok");
  EXPECT_EQ(codeOf("x = 1\n# coding: latin-1\ny = '\xe9'\n"), "lang.encoding"); // too late to count
}

TEST(LangEncoding, Cookies) {
  EXPECT_EQ(codeOf("# coding: utf-8\nx = '\xc3\xa9'\n"), "ok");
  EXPECT_EQ(errorOf("# coding: koi8-r\nx = 1\n"), "1:11: unknown encoding 'koi8-r'");
  EXPECT_EQ(codeOf("\xef\xbb\xbf# coding: utf-8\nx = 1\n"), "ok");
  EXPECT_EQ(codeOf("\xef\xbb\xbf# coding: latin-1\nx = 1\n"), "lang.encoding");
}

TEST(LangEncoding, EveryByteAloneGivesATreeOrAMessage) {
  for (int byte = 0; byte < 256; ++byte)
    for (const char *around : {"", "x = ", "'", "f'{", "x\\"}) {
      const std::string code = codeOf(around + std::string(1, static_cast<char>(byte)));
      EXPECT_TRUE(code == "ok" || code.starts_with("lang.")) << byte;
    }
}

TEST(LangEncoding, SourceWithoutAMarkIsKept) {
  const SourceFilePtr source = sourceOf("x = 1\n");
  EXPECT_EQ(parse(source)->source, source);
}

} // namespace
} // namespace tilewright::lang

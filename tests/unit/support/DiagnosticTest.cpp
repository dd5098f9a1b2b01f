#include "tilewright/support/Expected.h"
#include "tilewright/support/Hash.h"
#include "tilewright/support/ReasonCodes.h"

#include <gtest/gtest.h>
#include <set>

using namespace tilewright;

TEST(Diagnostic, PointsAtTheExpression) {
  const SourceFile file("k.py", "a = 1\n    offs = tl.arange(0, BLOCK)\n");
  const auto begin = static_cast<uint32_t>(file.text().find("BLOCK"));
  auto d =
      makeDiagnostic(Severity::Error, "oneshot.short", "too short", SourceRange{&file, begin, begin + 5});
  d.note("because");
  EXPECT_EQ(render(d), "k.py:2:25: error: too short [oneshot.short]\n"
                       "   offs = tl.arange(0, BLOCK)\n"
                       "                       ^~~~~\n"
                       "note: because\n");
}

TEST(Source, CountsEveryKindOfLineBreak) {
  const SourceFile file("k.py", "a\r\nb\rc\nd");
  EXPECT_EQ(file.lineCount(), 4u);
  EXPECT_EQ(file.line(2), "b");
  EXPECT_EQ(file.position(5).line, 3u);
}

TEST(Hash, KeepsFieldBordersApart) {
  EXPECT_NE(ContentHasher().add("ab").add("c").digest(), ContentHasher().add("a").add("bc").digest());
  EXPECT_EQ(contentHash("x").size(), 32u);
}

TEST(ReasonCodes, AreUniqueAndExplained) {
  std::set<std::string_view> seen;
  for (const auto &reason : reasonCodes()) {
    EXPECT_TRUE(seen.insert(reason.code).second) << reason.code;
    EXPECT_FALSE(reason.meaning.empty());
  }
  EXPECT_TRUE(meaningOf("no.such.code").empty());
}

// How counts are shown: kernels' names, lines of 80 columns, the legend.
#include <sstream>

#include "simt_test.hpp"

namespace {

using Names = std::vector<std::string>;
TEST(CountTable, ShortNames) {
  EXPECT_EQ(simt::short_names({"tree", "ns::sum", "::a::b<int>::pull<4, T>", "::up<(2 > 1)>"}),
            (Names{"tree", "sum", "pull", "up"}));
  EXPECT_EQ(simt::short_names({"a::tile<0>", "a::tile<1>", "a::copy<1>"}),
            (Names{"tile<0>", "tile<1>", "copy"}))
      << "arguments where they tell kernels apart";
  EXPECT_EQ(simt::short_names({"a::tile<0>", "b::tile<0>", "b::tile<1>", "a::x", "b::x"}),
            (Names{"a::tile<0>", "b::tile<0>", "tile<1>", "a::x", "b::x"}))
      << "namespaces where nothing else does";
  const Names others = {"table[k].kernel", "(n < 4 ? f<1> : f<2>)", "less<a->b>", "f<", ""};
  EXPECT_EQ(simt::short_names(others), others) << "an expression stays as it is";
}
TEST(CountTable, LongNamesAreCutUnlessTheyBecomeEqual) {
  const std::string same(60, 'k');
  EXPECT_EQ(simt::short_names({same}), (Names{std::string(32, 'k') + "..."}));
  EXPECT_EQ(simt::short_names({same + "1", same + "2", "other"}),
            (Names{same + "1", same + "2", "other"}));
}
TEST(CountTable, EightyColumnsAndALegendOfWhatIsThere) {
  const auto legend = [](bool global, bool shared, bool exact) {
    return simt::legend({global, shared, exact});
  };
  simt::KernelCount kernel{
      "ns::" + std::string(60, 'k'), 1, 1u << 20, 1u << 28, 1, 1u << 29, 1u << 29, 1u << 30, {}};
  const auto add = [&](simt::Space space, bool exact, const char* hint) {
    kernel.lines.push_back({"/at/04_coalesced_writes.cu", 20, space, "atomic", 16, 1u << 20,
                            1u << 25, 1u << 25, 1u << 25, 0, 0, exact, hint});
  };
  add(simt::Space::global, true, "uncoalesced");
  add(simt::Space::shared, false, "32-way bank conflict");
  const std::string text = simt::table({kernel}) + legend(true, true, false);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_NE(text.find(" uncoalesced ^\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" 32-way bank conflict, not exact ^\n"), std::string::npos) << text;
  const simt::TableShows shows = simt::shown_by({kernel});
  EXPECT_TRUE(shows.global && shows.shared && !shows.exact);
  const auto has = [](const std::string& in, const char* what) {
    return in.find(what) != std::string::npos;
  };
  for (const char* what : {"  sect ", "  wavf ", "  not exact "}) {
    EXPECT_TRUE(has(legend(true, true, false), what)) << what;
  }
  EXPECT_FALSE(has(legend(true, false, true), "wavefronts"));
  EXPECT_FALSE(has(legend(false, true, true), "sectors"));
  EXPECT_FALSE(has(legend(true, true, true), "not exact"));
  EXPECT_FALSE(has(legend(false, false, true), "requests")) << "a kernel without accesses";
}

}  // namespace

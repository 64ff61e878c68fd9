// SPDX-License-Identifier: Apache-2.0
#include "examples/herd_effect/page.h"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace herd_effect {
namespace {

/// The <svg> element of a file, without what only a file of its own needs before it.
std::string svg_element(const std::string& path) {
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t begin = text.find("<svg");
  if (begin == std::string::npos) throw std::runtime_error(path + " has no chart");
  return text.substr(begin);
}

constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>The herd effect</title>
<style>
body { font: 16px/1.5 "DejaVu Sans", sans-serif; color: #222; max-width: 58rem; margin: 2rem auto; padding: 0 1rem; }
figure { margin: 2rem 0; }
figure svg { width: 100%; height: auto; border: 1px solid #e2e2e2; border-radius: 6px; }
figcaption { color: #555; }
table { border-collapse: collapse; }
th, td { padding: .25rem 1rem .25rem 0; border-bottom: 1px solid #e2e2e2; text-align: right; }
td:first-child { text-align: left; }
.conclusion { font-weight: bold; border-left: 4px solid #0072b2; padding-left: 1rem; }
</style>
</head>
<body>
<h1>The herd effect</h1>
)";

}  // namespace

void write_page(const PageContent& content, const std::string& path) {
  std::ofstream page(path);
  page
      << kHead
      << "<p>Several contenders want a lock at once. On the <b>simple lock</b> they all watch one node: when it is "
         "removed, "
         "the server notifies all of them, all of them try to create it, one succeeds, and the others have asked for "
         "nothing and set their watches again. On the <b>fair mutex</b> each has a node of its own, in order of "
         "arrival, and watches only its predecessor: a release wakes one. With <b>look-ahead</b> each watches the node "
         "two places ahead, and its predecessor only when that one holds the lock: a release wakes two, whatever the "
         "number of waiters. The second one moves up, so it need not ask the server when its turn comes: it has the "
         "lock one round trip after the release instead of two. The work under the lock was the same; the work of the "
         "waiters was not.</p>\n"
      << "<figure>\n"
      << svg_element(content.events_svg)
      << "<figcaption>The cost of one release grows with the number of those who wait, or it does not.</figcaption>\n"
      << "</figure>\n<figure>\n"
      << svg_element(content.timeline_svg) << "<figcaption>" << content.timeline_contenders
      << " contenders, one lane each. Orange: woken, and it was for nothing. Pink: woken to move up. Green: has the "
         "lock. "
         "The fair mutex makes a "
         "staircase: everybody gets a turn, in order. The number of wake-ups is measured; they are drawn at the times "
         "of "
         "the releases that caused them.</figcaption>\n</figure>\n<h2>"
      << content.contenders << " contenders, in figures</h2>\n"
      << as_html(content.table) << "<p>" << kHowCounted << "</p>\n<p class=\"conclusion\">" << content.conclusion
      << "</p>\n</body>\n</html>\n";
  page.close();
  if (!page) throw std::runtime_error("cannot write " + path);
}

}  // namespace herd_effect

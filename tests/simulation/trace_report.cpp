// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/trace_report.h"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <string>

#include "tests/simulation/model/ensemble.h"
#include "tests/simulation/stage.h"

namespace zkrecipes::simulation {

namespace {

void print_line(std::ostream& out, const Trace::Line& line) {
  out << std::setw(12) << std::fixed << std::setprecision(6) << static_cast<double>(line.time.count()) / 1e9 << "  "
      << line.text << '\n';
}

bool mentions(const std::string& text, const std::string& what) {
  const std::size_t at = text.find(what);
  if (at == std::string::npos) return false;
  const std::size_t end = at + what.size();
  return end == text.size() || text[end] < '0' || text[end] > '9';  // "process 1" is not in "process 12"
}

bool matters(const Trace::Line& line, const Violation& violation) {
  const auto is = [&](auto kind) { return line.kind == static_cast<std::uint32_t>(kind); };
  if (is(RunTrace::fault) || is(EnsembleTrace::election)) return true;
  const bool of_path = !violation.path.empty() && mentions(line.text, violation.path);
  const bool of_process = std::any_of(violation.processes.begin(), violation.processes.end(),
                                      [&](int process) { return mentions(line.text, process_name(process)); });
  if (is(RunTrace::hold)) return of_path;
  if (is(RunTrace::wait)) return of_path && of_process;
  if (is(RunTrace::process)) return true;
  if (is(EnsembleTrace::node)) return of_path;
  if (is(EnsembleTrace::session) || is(EnsembleTrace::connection)) return of_process || violation.path.empty();
  return false;
}

}  // namespace

void print_trace(std::ostream& out, const RunResult& result) {
  for (const Trace::Line& line : result.trace) print_line(out, line);
}

void print_violation(std::ostream& out, const RunResult& result, std::size_t most_lines) {
  const Violation& violation = *result.violation;
  std::vector<const Trace::Line*> lines;
  for (const Trace::Line& line : result.trace)
    if (line.time <= violation.time && matters(line, violation)) lines.push_back(&line);
  // What never ended is explained by how it began, everything else by what came last.
  std::size_t first = lines.size() > most_lines ? lines.size() - most_lines : 0;
  if (violation.began != Time::zero() && first > 0) {
    const auto began = std::find_if(lines.begin(), lines.end(),
                                    [&](const Trace::Line* line) { return line->time >= violation.began; });
    const auto at = static_cast<std::size_t>(began - lines.begin());
    const std::size_t from = at > most_lines / 8 ? at - most_lines / 8 : 0;
    first = std::max(first + most_lines * 3 / 4, from);
    const std::size_t to = std::min(from + most_lines * 3 / 4, first);
    if (from > 0) out << "          ...  (" << from << " lines before)\n";
    for (std::size_t i = from; i < to; ++i) print_line(out, *lines[i]);
    if (first > to) out << "          ...  (" << first - to << " lines)\n";
  } else if (first > 0) {
    out << "          ...  (" << first << " lines before)\n";
  }
  for (std::size_t i = first; i < lines.size(); ++i) print_line(out, *lines[i]);
  out << std::setw(12) << std::fixed << std::setprecision(6) << static_cast<double>(violation.time.count()) / 1e9
      << "  VIOLATION: " << violation.what << '\n';
}

}  // namespace zkrecipes::simulation

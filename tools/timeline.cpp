// millrace timeline: runs a program and draws when its operations ran, a row per stream.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "commands.h"
#include "program.h"
#include "trace.h"

namespace millrace {
namespace {

bool is_work(const Operation& op) {
  return op.began && op.ended &&
         (op.kind == "kernel" || op.kind == "copy" || op.kind == "fill" || op.kind == "host" || op.kind == "custom");
}

// Total length of a union of intervals.
std::uint64_t covered(std::vector<std::pair<std::uint64_t, std::uint64_t>> spans) {
  std::sort(spans.begin(), spans.end());
  std::uint64_t total = 0, end = 0;
  for (const auto& [a, b] : spans) {
    if (b <= end) continue;
    total += b - std::max(a, end);
    end = b;
  }
  return total;
}

std::string label(const Operation& op) {
  if (op.kind == "kernel") {
    std::string name = op.name.substr(0, op.name.find('('));
    return fmt::format("{} <<<({},{},{}),({},{},{})>>>", name, op.grid[0], op.grid[1], op.grid[2], op.block[0],
                       op.block[1], op.block[2]);
  }
  if (op.bytes) return fmt::format("{} {} bytes", op.kind, op.bytes);
  return op.kind == "host" ? "host function" : op.kind == "custom" ? "graph or batch" : op.kind;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

const char* colour(const Operation& op) {
  if (op.kind == "kernel") return "#4878a8";
  if (op.kind == "copy") return "#d9893b";
  if (op.kind == "fill") return "#8c6bb1";
  if (op.kind == "host") return "#5a9e5a";
  return "#909090";
}

void draw(const Trace& trace, const std::string& path) {
  std::vector<std::string> rows;
  std::map<std::string, std::size_t> row_of;
  std::uint64_t begin = ~std::uint64_t{0}, end = 0;
  for (const Operation& op : trace.operations) {
    if (!is_work(op)) continue;
    const std::string name = trace.name_of(op.queue, op.enqueued);
    if (row_of.emplace(name, rows.size()).second) rows.push_back(name);
    begin = std::min(begin, op.began);
    end = std::max(end, op.ended);
  }
  if (rows.empty()) throw std::runtime_error("no operation ran, so there is nothing to draw");
  const double left = 260, width = 1200, row_height = 34, top = 60;
  const double scale = width / static_cast<double>(std::max<std::uint64_t>(end - begin, 1));
  const auto x_of = [&](std::uint64_t t) { return left + static_cast<double>(t - begin) * scale; };
  std::ofstream out(path);
  if (!out) throw std::runtime_error(fmt::format("{} could not be written; check that its folder exists", path));
  const double height = top + row_height * static_cast<double>(rows.size()) + 40;
  out << fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\" "
                     "font-size=\"12\">\n",
                     left + width + 40, height);
  out << fmt::format("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"10\" y=\"22\" "
                     "font-size=\"15\">{:.3f} ms, {} operations</text>\n",
                     static_cast<double>(end - begin) * 1e-6, trace.operations.size());
  double legend = left;
  for (const auto& [kind, text] : {std::pair{"kernel", "kernels"},
                                   {"copy", "copies"},
                                   {"fill", "sets"},
                                   {"host", "host functions"},
                                   {"custom", "graphs, batches"}}) {
    Operation sample;
    sample.kind = kind;
    out << fmt::format(
        "<rect x=\"{}\" y=\"10\" width=\"14\" height=\"14\" fill=\"{}\"/><text x=\"{}\" y=\"22\">{}</text>\n", legend,
        colour(sample), legend + 20, text);
    legend += 130;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double y = top + row_height * static_cast<double>(i);
    if (i % 2 == 0)
      out << fmt::format("<rect x=\"0\" y=\"{}\" width=\"100%\" height=\"{}\" fill=\"#f4f4f4\"/>\n", y, row_height);
    out << fmt::format("<text x=\"10\" y=\"{}\">{}</text>\n", y + row_height / 2 + 4, escaped(rows[i]));
  }
  for (int i = 0; i <= 10; ++i) {
    const double x = left + width * i / 10;
    out << fmt::format("<line x1=\"{0}\" y1=\"{1}\" x2=\"{0}\" y2=\"{2}\" stroke=\"#ddd\"/><text x=\"{0}\" y=\"{3}\" "
                       "fill=\"#666\" text-anchor=\"middle\">{4:.3f} ms</text>\n",
                       x, top - 8, height - 26, height - 10, static_cast<double>(end - begin) * 1e-6 * i / 10);
  }
  std::map<std::pair<std::string, std::uint64_t>, const Operation*> by_point;
  for (const Operation& op : trace.operations) by_point[{op.queue, op.sequence}] = &op;
  for (const Operation& op : trace.operations) {
    if (!is_work(op)) continue;
    const double y = top + row_height * static_cast<double>(row_of[trace.name_of(op.queue, op.enqueued)]) + 6;
    const double w = std::max(1.0, static_cast<double>(op.ended - op.began) * scale);
    out << fmt::format("<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\" fill-opacity=\"0.85\" "
                       "stroke=\"white\" stroke-width=\"0.4\">"
                       "<title>{}\n{}\nenqueued {:.3f} us before it began, ran {:.3f} us</title></rect>\n",
                       x_of(op.began), y, w, row_height - 12, colour(op), escaped(label(op)),
                       escaped(trace.name_of(op.queue, op.enqueued)),
                       static_cast<double>(op.began - std::min(op.began, op.enqueued)) * 1e-3,
                       static_cast<double>(op.ended - op.began) * 1e-3);
    if (w > 60) {
      const std::string text = label(op).substr(0, static_cast<std::size_t>(w / 7));
      out << fmt::format(
          "<text x=\"{:.2f}\" y=\"{}\" fill=\"white\" font-size=\"10\" pointer-events=\"none\">{}</text>\n",
          x_of(op.began) + 4, y + 15, escaped(text));
    }
  }
  // Waits across streams: from the end of what was waited for to where the waiting stream went on.
  for (const Operation& op : trace.operations) {
    if (op.kind != "wait" || !op.ended || op.queue == op.on) continue;
    const auto found = by_point.find({op.on, op.until});
    if (found == by_point.end() || !is_work(*found->second)) continue;
    const Operation& from = *found->second;
    const auto a = row_of.find(trace.name_of(from.queue, from.enqueued)),
               b = row_of.find(trace.name_of(op.queue, op.enqueued));
    if (a == row_of.end() || b == row_of.end() || op.ended < begin || op.ended > end) continue;
    out << fmt::format(
        "<line x1=\"{:.2f}\" y1=\"{}\" x2=\"{:.2f}\" y2=\"{}\" stroke=\"#b03030\" stroke-opacity=\"0.6\"/>\n",
        x_of(from.ended), top + row_height * (static_cast<double>(a->second) + 0.5), x_of(op.ended),
        top + row_height * (static_cast<double>(b->second) + 0.5));
  }
  out << "</svg>\n";
}

// The trace event format that browsers' trace viewers read.
void write_events(const Trace& trace, const std::string& path) {
  nlohmann::json events = nlohmann::json::array();
  std::map<std::string, int> row_of;
  for (const Operation& op : trace.operations) {
    if (!is_work(op)) continue;
    const std::string row = trace.name_of(op.queue, op.enqueued);
    const auto [it, fresh] = row_of.emplace(row, static_cast<int>(row_of.size()) + 1);
    if (fresh)
      events.push_back(
          {{"ph", "M"}, {"name", "thread_name"}, {"pid", 1}, {"tid", it->second}, {"args", {{"name", row}}}});
    events.push_back({{"ph", "X"},
                      {"name", label(op)},
                      {"cat", op.kind},
                      {"pid", 1},
                      {"tid", it->second},
                      {"ts", static_cast<double>(op.began) * 1e-3},
                      {"dur", static_cast<double>(op.ended - op.began) * 1e-3},
                      {"args", {{"worker", op.thread}, {"sequence", op.sequence}}}});
  }
  std::ofstream out(path);
  if (!out) throw std::runtime_error(fmt::format("{} could not be written; check that its folder exists", path));
  out << nlohmann::json{{"traceEvents", events}}.dump() << "\n";
}

void summarise(const Trace& trace) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> kernels, copies, all;
  for (const Operation& op : trace.operations) {
    if (!is_work(op)) continue;
    all.emplace_back(op.began, op.ended);
    if (op.kind == "kernel") kernels.emplace_back(op.began, op.ended);
    if (op.kind == "copy") copies.emplace_back(op.began, op.ended);
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> both = kernels;
  both.insert(both.end(), copies.begin(), copies.end());
  const std::uint64_t k = covered(kernels), c = covered(copies), u = covered(both), overlap = k + c - u;
  fmt::print("{} operations kept of {}; busy {:.3f} ms; kernels {:.3f} ms, copies {:.3f} ms, both at once {:.3f} ms\n",
             trace.operations.size(), trace.total, static_cast<double>(covered(all)) * 1e-6,
             static_cast<double>(k) * 1e-6, static_cast<double>(c) * 1e-6, static_cast<double>(overlap) * 1e-6);
}

}  // namespace

void add_timeline(CLI::App& app) {
  auto* command = app.add_subcommand("timeline",
                                     "Runs a program and draws when its operations ran: streams, kinds, waits.");
  static std::string output = "timeline.svg", input;
  command->add_option("-o,--output", output, "picture (.svg) or trace events for a browser's viewer (.json)")
      ->capture_default_str();
  command->add_option("--trace", input, "draw this trace instead of running a program");
  add_program(*command);
  command->callback([command] {
    try {
      const std::vector<std::string> program = program_if_any(*command);
      if (program.empty() == input.empty()) throw CLI::ValidationError("give either a program or --trace FILE");
      int status = 0;
      const Trace trace = input.empty() ? run_traced(program, &status) : read_trace(input);
      if (output.ends_with(".json"))
        write_events(trace, output);
      else
        draw(trace, output);
      summarise(trace);
      fmt::print("written to {}\n", output);
      if (status) fmt::print(stderr, "millrace: the program ended with status {}\n", status);
      std::exit(status ? 1 : 0);
    } catch (const CLI::Error&) {
      throw;
    } catch (const std::exception& e) {
      fmt::print(stderr, "millrace: {}\n", e.what());
      std::exit(2);
    }
  });
}

}  // namespace millrace

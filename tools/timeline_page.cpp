// The page of `millrace timeline`: timeline_page.html with the picture's numbers in it, as little-endian columns in
// base64, so that a million operations are read at once instead of parsed.
#include <fmt/format.h>
#include <fmt/os.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "timeline_model.h"

asm(".section .rodata\n"
    "millrace_page_begin:\n"
    ".incbin \"" MILLRACE_PAGE "\"\n"
    "millrace_page_end:\n"
    ".previous\n");
extern "C" const char millrace_page_begin[], millrace_page_end[];

namespace millrace {
namespace {

using nlohmann::json;

std::ofstream open_file(const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  if (!out) throw std::runtime_error(fmt::format("{} could not be written: {}", path, std::strerror(errno)));
  return out;
}
void close_file(std::ofstream& out, const std::string& path) {
  out.close();
  if (!out) throw std::runtime_error(fmt::format("{} could not be written to its end; is the disk full?", path));
}

std::string base64(const void* data, std::size_t bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto* in = static_cast<const unsigned char*>(data);
  std::string out;
  out.reserve((bytes + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes; i += 3) {
    const std::size_t left = bytes - i;
    const unsigned word = in[i] << 16 | (left > 1 ? in[i + 1] << 8 : 0) | (left > 2 ? in[i + 2] : 0);
    out += digits[word >> 18];
    out += digits[word >> 12 & 63];
    out += left > 1 ? digits[word >> 6 & 63] : '=';
    out += left > 2 ? digits[word & 63] : '=';
  }
  return out;
}

template <class T, class Get> std::string column(const std::vector<Item>& items, Get get) {
  std::vector<T> values;
  values.reserve(items.size());
  for (const Item& i : items) values.push_back(static_cast<T>(get(i)));
  return base64(values.data(), values.size() * sizeof(T));
}

json figures_of(const Picture& p) {
  json hottest = json::array(), chain = json::array();
  for (std::size_t i = 0; i < p.hottest.size() && i < 20; ++i) {
    const KernelFigures& k = p.hottest[i];
    hottest.push_back({k.name, k.count, k.total_ns, k.longest_ns});
  }
  constexpr std::size_t most = 1000;
  for (std::size_t i = 0; i < p.chain.size() && i < most; ++i) chain.push_back(p.chain[i]);
  return {{"operations", p.operations},
          {"calls", p.calls},
          {"kernels", p.kernels_ns},
          {"copies", p.copies_ns},
          {"both", p.both_ns},
          {"busy", p.busy_ns},
          {"idle", p.idle_ns},
          {"gaps", p.gaps},
          {"longestGap", p.longest_gap_ns},
          {"gapAt", p.longest_gap_at},
          {"chainTime", p.chain_ns},
          {"chainLength", p.chain.size()},
          {"chain", chain},
          {"hottest", hottest}};
}

// In a script: "</script>" must not come up.
std::string safe(const json& value) {
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace), out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '<') out.back() = '\\', out += "u003c";
  }
  return out;
}

}  // namespace

void write_page(const Picture& p, const std::string& title, const std::string& path) {
  const std::string_view page(millrace_page_begin, static_cast<std::size_t>(millrace_page_end - millrace_page_begin));
  constexpr std::string_view mark = "/*DATA*/";
  const std::size_t at = page.find(mark);
  std::ofstream out = open_file(path);
  out << page.substr(0, at);
  json lanes = json::array();
  for (const Lane& lane : p.lanes) lanes.push_back({lane.group, lane.name});
  out << "const DATA = {title: " << safe(title) << ", span: " << fmt::format("{}", p.span_ns)
      << ", count: " << p.items.size() << ", lanes: " << safe(lanes) << ", texts: " << safe(p.texts)
      << ", figures: " << safe(figures_of(p)) << ",\n";
  const auto put = [&](const char* name, const std::string& data) { out << name << ": \"" << data << "\",\n"; };
  put("begin", column<double>(p.items, [](const Item& i) { return i.begin; }));
  put("length", column<float>(p.items, [](const Item& i) { return i.length; }));
  put("waited", column<float>(p.items, [](const Item& i) { return i.waited; }));
  put("bytes", column<double>(p.items, [](const Item& i) { return i.bytes; }));
  put("name", column<std::uint32_t>(p.items, [](const Item& i) { return i.name; }));
  put("detail", column<std::uint32_t>(p.items, [](const Item& i) { return i.detail; }));
  put("call", column<std::uint32_t>(p.items, [](const Item& i) { return i.call; }));
  put("place", column<std::uint32_t>(p.items, [](const Item& i) { return i.place; }));
  put("lane", column<std::uint16_t>(p.items, [](const Item& i) { return i.lane; }));
  put("engine", column<std::uint16_t>(p.items, [](const Item& i) { return i.engine; }));
  put("kind", column<std::uint8_t>(p.items, [](const Item& i) { return i.kind; }));
  put("arrows", base64(p.arrows.data(), p.arrows.size() * sizeof p.arrows[0]));
  out << "};" << page.substr(at + mark.size());
  close_file(out, path);
}

void write_events(const Picture& p, const std::string& path) {
  static constexpr const char* kinds[] = {"kernel", "copy", "set", "host function", "graph", "call", "range"};
  std::ofstream out = open_file(path);
  out << "{\"traceEvents\":[\n";
  for (std::size_t i = 0; i < p.lanes.size(); ++i)
    out << fmt::format("{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":{},\"args\":{{\"name\":{}}}}},\n",
                       i + 1, json(p.lanes[i].group + ": " + p.lanes[i].name).dump());
  const auto us = [](double ns) { return fmt::format("{:.3f}", ns * 1e-3); };
  for (const Item& item : p.items) {
    json args;
    if (item.detail) args["launch"] = p.texts[item.detail];
    if (item.bytes > 0) args["bytes"] = item.bytes;
    if (item.call) args["call"] = p.texts[item.call];
    if (item.place) args["at"] = p.texts[item.place];
    if (item.waited > 0) args["waited_us"] = item.waited * 1e-3;
    if (item.thread) args["thread"] = item.thread;
    out << fmt::format(
        "{{\"ph\":\"X\",\"name\":{},\"cat\":\"{}\",\"pid\":1,\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{}}},\n",
        json(p.texts[item.name]).dump(-1, ' ', false, json::error_handler_t::replace),
        kinds[static_cast<int>(item.kind)], item.lane + 1, us(item.begin), us(item.length),
        args.is_null() ? "{}" : args.dump(-1, ' ', false, json::error_handler_t::replace));
  }
  for (std::size_t i = 0; i < p.arrows.size(); ++i) {
    const Item &from = p.items[p.arrows[i].first], &to = p.items[p.arrows[i].second];
    out << fmt::format(
        "{{\"ph\":\"s\",\"name\":\"waits\",\"cat\":\"order\",\"id\":{},\"pid\":1,\"tid\":{},\"ts\":{}}},\n"
        "{{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"waits\",\"cat\":\"order\",\"id\":{},\"pid\":1,\"tid\":{},"
        "\"ts\":{}}},\n",
        i + 1, from.lane + 1, us(from.begin + from.length), i + 1, to.lane + 1, us(to.begin));
  }
  out << "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"millrace\"}}\n]}\n";
  close_file(out, path);
}

}  // namespace millrace

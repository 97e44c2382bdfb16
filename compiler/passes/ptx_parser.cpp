#include <cctype>
#include <cstdlib>

#include "llvm/ADT/StringExtras.h"

#include "ptx.h"

namespace mrcc::ptx {
using namespace llvm;

Type parse_type(StringRef s) {
  if (s == "pred") return {'p', 1};
  if (s == "f16x2") return {'f', 16, 2};
  if (s == "bf16") return {'h', 16};
  if (s == "bf16x2") return {'h', 16, 2};
  unsigned bits = 0;
  if (s.size() < 2 || !StringRef("usbf").contains(s[0]) || s.drop_front().getAsInteger(10, bits)) return {};
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return {};
  return {s[0], bits};
}

bool Statement::has(StringRef word) const {
  for (const std::string& w : words)
    if (w == word) return true;
  return false;
}

Type Statement::type(unsigned n) const {
  for (std::size_t i = 1; i < words.size(); ++i)
    if (const Type t = parse_type(words[i]); t.known() && n-- == 0) return t;
  return {};
}

namespace {

// clang escapes what could mean an assembler dialect, and names operands $N.
std::string plain(StringRef text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : 0;
    if (text[i] == '/' && next == '/') {
      while (i < text.size() && text[i] != '\n') ++i;
      out += ' ';
    } else if (text[i] == '/' && next == '*') {
      const std::size_t end = text.find("*/", i + 2);
      i = end == StringRef::npos ? text.size() : end + 1;
      out += ' ';
    } else if (text[i] == '$' && (next == '(' || next == ')' || next == '|')) {
      out += next == '(' ? '{' : next == ')' ? '}' : '|';
      ++i;
    } else if (text[i] == '$' && next == '$') {
      out += '%';  // part of a name
      ++i;
    } else if (text[i] == '$' && next == '{') {
      const std::size_t end = text.find('}', i);
      const StringRef inside = text.slice(i + 2, end);
      out += inside == ":uid" ? "uid" : ("$" + inside.split(':').first).str();
      i = end == StringRef::npos ? text.size() : end;
    } else {
      out += text[i];
    }
  }
  return out;
}

Operand parse_operand(StringRef text);

// Splits at commas outside brackets.
std::vector<Operand> parse_list(StringRef text) {
  std::vector<Operand> out;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '{' || c == '[' || c == '(') ++depth;
    if (c == '}' || c == ']' || c == ')') --depth;
    if (c != ',' || (depth != 0 && i < text.size())) continue;
    const StringRef part = text.slice(start, i).trim();
    if (!part.empty()) out.push_back(parse_operand(part));
    start = i + 1;
  }
  return out;
}

bool parse_number(StringRef text, Operand& o) {
  const bool negative = text.consume_front("-");
  if (text.empty() || !isDigit(text[0])) return false;
  std::uint64_t value = 0;
  if ((text.starts_with_insensitive("0f") && text.size() == 10) ||
      (text.starts_with_insensitive("0d") && text.size() == 18)) {
    if (text.drop_front(2).getAsInteger(16, value)) return false;
    o.literal = text[1] == 'f' || text[1] == 'F' ? 'f' : 'd';
  } else if (text.contains('.')) {
    const double d = std::strtod(text.str().c_str(), nullptr);
    value = bit_cast<std::uint64_t>(negative ? -d : d);
    o.literal = 'd';
    o.kind = Operand::number;
    o.bits = value;
    return true;
  } else {
    text.consume_back("U");
    if (text.getAsInteger(0, value)) return false;
  }
  o.kind = Operand::number;
  o.bits = negative ? 0 - value : value;
  return true;
}

Operand parse_operand(StringRef text) {
  Operand o;
  text = text.trim();
  if (text.starts_with("{") && text.ends_with("}")) {
    o.kind = Operand::vector;
    o.parts = parse_list(text.drop_front().drop_back());
    return o;
  }
  if (text.starts_with("[") && text.ends_with("]")) {
    o.kind = Operand::memory;
    StringRef inside = text.drop_front().drop_back().trim();
    const std::size_t plus = inside.find_first_of("+-", 1);
    if (plus != StringRef::npos) {
      inside.drop_front(plus + (inside[plus] == '+')).trim().getAsInteger(0, o.offset);
      inside = inside.take_front(plus).trim();
    }
    o.parts.push_back(parse_operand(inside));
    return o;
  }
  if (parse_number(text, o)) return o;
  o.inverted = text.consume_front("!");
  auto [first, second] = text.split('|');
  o.text = first.trim().str();
  o.second = second.trim().str();
  return o;
}

void parse_registers(StringRef text, Program& program) {
  auto [type_word, names] = text.ltrim().split(' ');
  Type type = parse_type(type_word.drop_front());
  if (type_word == ".v2" || type_word == ".v4" || !type.known()) {
    program.error = (".reg " + type_word).str();
    return;
  }
  SmallVector<StringRef, 8> list;
  names.split(list, ',');
  for (StringRef name : list) {
    name = name.trim();
    auto [base, count] = name.split('<');
    unsigned n = 0;
    if (!count.empty() && !count.rtrim('>').getAsInteger(10, n)) {
      for (unsigned i = 0; i < n; ++i) program.registers.push_back({(base + Twine(i)).str(), type});
    } else if (!name.empty()) {
      program.registers.push_back({name.str(), type});
    }
  }
}

}  // namespace

namespace {
constexpr StringLiteral label_characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%";
}

Program parse(StringRef source) {
  Program program;
  const std::string text = plain(source);
  std::size_t i = 0;
  const auto blank = [&] {
    while (i < text.size() && std::isspace(static_cast<unsigned char>(text[i]))) ++i;
  };
  while (program.error.empty()) {
    blank();
    if (i >= text.size()) break;
    if (text[i] == '{' || text[i] == '}' || text[i] == ';') {
      ++i;
      continue;
    }
    const std::size_t end = std::min(text.find(';', i), text.size());
    std::string body = text.substr(i, end - i);
    i = end + 1;
    for (char& c : body)
      if (std::isspace(static_cast<unsigned char>(c))) c = ' ';
    // A brace that closes the block may stand before the end of the text.
    StringRef line = StringRef(body).trim();
    while (true) {
      const std::size_t colon = line.find_first_not_of(label_characters);
      if (colon == 0 || colon == StringRef::npos || line[colon] != ':' || line.substr(colon).starts_with("::")) break;
      Statement label;
      label.label = line.take_front(colon).str();
      program.statements.push_back(std::move(label));
      line = line.drop_front(colon + 1).ltrim("{} ");
    }
    if (line.empty()) continue;
    if (line.consume_front(".reg")) {
      parse_registers(line, program);
      continue;
    }
    Statement s;
    if (line.consume_front("@")) {
      s.guard_inverted = line.consume_front("!");
      auto [guard, rest] = line.split(' ');
      s.guard = guard.str();
      line = rest.ltrim();
    }
    auto [op, rest] = line.split(' ');
    s.full = op.str();
    SmallVector<StringRef, 8> words;
    op.split(words, '.');
    for (StringRef w : words) s.words.push_back(w.str());
    if (rest.trim() == "}") rest = "";
    s.operands = parse_list(rest.trim());
    program.statements.push_back(std::move(s));
  }
  return program;
}

}  // namespace mrcc::ptx

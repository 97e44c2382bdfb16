// Splitting text into arguments: response files, environment variables, and nvcc's comma-separated lists.
#include <cctype>

#include "options.h"

namespace mrcc {
namespace {

// `comma` tells whether commas separate as well. Quotes and backslashes protect and are removed.
Argv split(std::string_view text, bool comma) {
  Argv words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      // Inside double quotes a backslash protects only what needs it, as in a shell.
      if (quote == '"' && text[i + 1] != '"' && text[i + 1] != '\\') word += c;
      word += text[++i];
      in_word = true;
    } else if (quote) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      in_word = true;
    } else if ((comma && c == ',') || std::isspace(static_cast<unsigned char>(c))) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

}  // namespace

Argv split_words(std::string_view text) { return split(text, false); }
Argv split_list(std::string_view text) { return split(text, true); }

}  // namespace mrcc

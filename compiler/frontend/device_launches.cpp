#include "device_launches.h"

#include <map>
#include <string>
#include <vector>

#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/Support/Path.h"

namespace {
using namespace clang;
using llvm::StringRef;

using Edits = std::map<unsigned, std::pair<unsigned, std::string>>;  // from where, to where, what instead

struct Piece {
  tok::TokenKind kind;
  unsigned begin, end;  // in the text
};

class Source {
 public:
  Source(StringRef text, const LangOptions& language) : text_(text) {
    Lexer lexer(SourceLocation::getFromRawEncoding(1), language, text.begin(), text.begin(), text.end());
    for (Token token;;) {
      lexer.LexFromRawLexer(token);
      if (token.is(tok::eof)) break;
      const unsigned end = lexer.getBufferLocation() - text.begin();
      pieces_.push_back({token.getKind(), end - token.getLength(), end});
    }
  }

  // True when some function that is device code alone launches a kernel. `edits` then empty those functions' bodies.
  bool find_device_launches(Edits& edits) const {
    bool any = false;
    std::size_t start = 0;  // of the current declaration
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const tok::TokenKind kind = pieces_[i].kind;
      if (kind == tok::semi || kind == tok::r_brace) {
        start = i + 1;
      } else if (kind == tok::l_brace) {
        const Header header = read_header(start, i);
        start = i + 1;
        if (!header.function) continue;  // a namespace, a class: look inside
        const std::size_t close = matching(i, tok::l_brace, tok::r_brace);
        bool launches = false;
        for (std::size_t k = i; k < close; ++k) launches |= pieces_[k].kind == tok::lesslessless;
        if (header.device && !header.host && launches) {
          any = true;
          const unsigned begin = pieces_[i].end;
          const unsigned end = close < pieces_.size() ? pieces_[close].begin : static_cast<unsigned>(text_.size());
          const std::string lines(text_.slice(begin, end).count('\n'), '\n');
          edits[begin] = {end, " __builtin_trap(); " + lines};
        }
        i = close;
        start = i + 1;
      }
    }
    return any;
  }

  void find_launches(Edits& edits) const {
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (pieces_[i].kind != tok::lesslessless) continue;
      const std::size_t close = end_of_configuration(i);
      if (close + 1 >= pieces_.size() || pieces_[close + 1].kind != tok::l_paren) continue;
      const std::size_t last = matching(close + 1, tok::l_paren, tok::r_paren);
      if (last >= pieces_.size()) continue;
      const std::string configuration = text(pieces_[i].end, pieces_[close].begin);
      const std::string arguments = text(pieces_[close].end, pieces_[last].end);
      edits[pieces_[i].begin] = {pieces_[last].end,
                                 arguments + ", __mr_launch_go(__mr_launch_config(" + configuration + "))"};
      i = last;
    }
  }

  // `<<<{8, 8}, {16, 16}>>>`: clang takes expressions only.
  void find_braces(Edits& edits) const {
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (pieces_[i].kind != tok::lesslessless) continue;
      const std::size_t close = end_of_configuration(i);
      if (close >= pieces_.size()) continue;
      for (std::size_t k = i + 1, argument = 0; k < close && argument < 2; ++argument) {
        if (pieces_[k].kind == tok::l_brace) edits[pieces_[k].begin] = {pieces_[k].begin, "dim3"};
        for (int depth = 0; k < close; ++k) {
          const tok::TokenKind kind = pieces_[k].kind;
          if (kind == tok::l_paren || kind == tok::l_brace || kind == tok::l_square) ++depth;
          if (kind == tok::r_paren || kind == tok::r_brace || kind == tok::r_square) --depth;
          if (kind == tok::comma && depth == 0) break;
        }
        ++k;
      }
    }
  }

  std::string edited(const Edits& edits) const {
    std::string out;
    unsigned at = 0;
    for (const auto& [begin, edit] : edits) {
      if (begin < at) continue;
      out += text(at, begin);
      out += edit.second;
      at = edit.first;
    }
    return out + text(at, text_.size());
  }

  // Names in #include directives, as written between the quotes or brackets.
  std::vector<std::string> includes() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i + 2 < pieces_.size(); ++i) {
      if (pieces_[i].kind != tok::hash || word(i + 1) != "include") continue;
      const unsigned begin = pieces_[i + 2].begin + 1;
      const char close = text_[begin - 1] == '<' ? '>' : '"';
      const std::size_t end = text_.find(close, begin);
      if (end != StringRef::npos) names.push_back(text_.slice(begin, end).str());
    }
    return names;
  }

 private:
  struct Header {
    bool function = false, device = false, host = false;
  };
  StringRef word(std::size_t i) const { return text_.slice(pieces_[i].begin, pieces_[i].end); }
  std::string text(std::size_t begin, std::size_t end) const { return text_.slice(begin, end).str(); }

  // What stands before a brace: a function has parameters, and is no class or namespace.
  Header read_header(std::size_t begin, std::size_t end) const {
    Header header;
    bool type = false;
    int depth = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (pieces_[i].kind == tok::hash) {  // a directive: to the end of its line
        const std::size_t line_end = std::min(text_.find('\n', pieces_[i].begin), text_.size());
        while (i + 1 < end && pieces_[i + 1].begin < line_end) ++i;
        continue;
      }
      if (pieces_[i].kind == tok::l_paren) {
        if (depth++ == 0 && i > begin && word(i - 1) != "__attribute__" && word(i - 1) != "__launch_bounds__" &&
            word(i - 1) != "__align__" && word(i - 1) != "alignas")
          header.function = true;
      } else if (pieces_[i].kind == tok::r_paren) {
        --depth;
      } else if (depth == 0 && pieces_[i].kind == tok::raw_identifier) {
        const StringRef w = word(i);
        header.device |= w == "__device__" || w == "__global__";
        header.host |= w == "__host__";
        // `template <class T> void f()` has the word between angle brackets.
        const bool parameter = i > begin && (pieces_[i - 1].kind == tok::less || pieces_[i - 1].kind == tok::comma);
        type |= !parameter && (w == "namespace" || w == "class" || w == "struct" || w == "union" || w == "enum");
      }
    }
    if (type && !header.device) header.function = false;
    return header;
  }
  std::size_t matching(std::size_t open, tok::TokenKind up, tok::TokenKind down) const {
    int depth = 0;
    for (std::size_t i = open; i < pieces_.size(); ++i) {
      if (pieces_[i].kind == up) ++depth;
      if (pieces_[i].kind == down && --depth == 0) return i;
    }
    return pieces_.size();
  }
  std::size_t end_of_configuration(std::size_t open) const {
    int depth = 0;
    for (std::size_t i = open + 1; i < pieces_.size(); ++i) {
      const tok::TokenKind kind = pieces_[i].kind;
      if (kind == tok::l_paren || kind == tok::l_brace || kind == tok::l_square) ++depth;
      if (kind == tok::r_paren || kind == tok::r_brace || kind == tok::r_square) --depth;
      if (kind == tok::greatergreatergreater && depth == 0) return i;
      if (kind == tok::semi) break;
    }
    return pieces_.size();
  }

  StringRef text_;
  std::vector<Piece> pieces_;
};

struct File {
  FileEntryRef entry;
  std::string text;
};

// The main file and what it includes that isn't a system header, each once.
class Closure {
 public:
  explicit Closure(CompilerInstance& compiler) : compiler_(compiler) {}
  void add(FileEntryRef entry) {
    if (!seen_.insert(&entry.getFileEntry()).second || seen_.size() > 500) return;
    auto buffer = compiler_.getFileManager().getBufferForFile(entry);
    if (!buffer) return;
    files.push_back({entry, (*buffer)->getBuffer().str()});
    const std::string folder = llvm::sys::path::parent_path(entry.getName()).str();
    for (const std::string& name : Source(files.back().text, compiler_.getLangOpts()).includes()) include(folder, name);
  }
  std::vector<File> files;

 private:
  void include(StringRef folder, StringRef name) {
    std::vector<std::string> folders{folder.str()};
    for (const auto& entry : compiler_.getHeaderSearchOpts().UserEntries)
      if (entry.Group == frontend::Quoted || entry.Group == frontend::Angled) folders.push_back(entry.Path);
    for (const std::string& candidate : folders) {
      llvm::SmallString<256> path(candidate);
      llvm::sys::path::append(path, name);
      if (auto found = compiler_.getFileManager().getOptionalFileRef(path)) return add(*found);
    }
  }
  CompilerInstance& compiler_;
  llvm::SmallPtrSet<const FileEntry*, 16> seen_;
};

}  // namespace

bool rewrite_device_launches(CompilerInstance& compiler) {
  SourceManager& sources = compiler.getSourceManager();
  const auto main = sources.getFileEntryRefForID(sources.getMainFileID());
  if (!main || !compiler.getLangOpts().CUDA) return false;
  Closure closure(compiler);
  closure.add(*main);
  const bool device = compiler.getLangOpts().CUDAIsDevice;
  bool any = false;
  struct Found {
    const File* file;
    Edits launches, braces;
  };
  std::vector<Found> all;
  for (const File& file : closure.files) {
    if (!StringRef(file.text).contains("<<<")) continue;
    Found found{&file, {}, {}};
    const Source source(file.text, compiler.getLangOpts());
    any |= source.find_device_launches(found.launches);
    if (device) {
      found.launches.clear();
      source.find_launches(found.launches);
    }
    source.find_braces(found.braces);
    all.push_back(std::move(found));
  }
  for (Found& found : all) {
    Edits& edits = found.braces;
    if (any) edits.insert(found.launches.begin(), found.launches.end());
    if (edits.empty()) continue;
    sources.overrideFileContents(found.file->entry, llvm::MemoryBuffer::getMemBufferCopy(
                                                        Source(found.file->text, compiler.getLangOpts()).edited(edits),
                                                        found.file->entry.getName()));
  }
  return any;
}

void redefine_global(CompilerInstance& compiler) {
  // Behind headers given by -include, which are part of the predefines.
  Preprocessor& preprocessor = compiler.getPreprocessor();
  preprocessor.setPredefines(preprocessor.getPredefines() +
                             "#undef __global__\n"
                             "#define __global__ __attribute__((host)) __attribute__((device)) "
                             "__attribute__((annotate(\"mr_global\")))\n");
}

#include "device_link.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>

#include "checked_image.h"
#include "elf_objects.h"
#include "failure.h"
#include "process.h"
#include "relocatable.h"

namespace mrcc {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view register_prefix = "__cudaRegisterLinkedBinary__nv_";

std::string demangled(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text ? text : name;
  std::free(text);
  return result;
}

struct Candidate {
  ElfObject object;
  std::vector<DeviceUnit> units;
  bool taken = false;
};

// What the host's linker will see, in its order: objects that it takes in any case, and archive members that it takes
// when they define something that is missing.
class Inputs {
 public:
  void collect(const Options& options, const std::vector<std::string>& objects);
  bool any_device_code() const;
  // Marks archive members as the host's linker does: taken when they define what something taken lacks. Archives are
  // searched again until nothing changes, which is at least what any order on the command line gives.
  void take_for_host(bool executable);
  // And the members that only device code asks for.
  void take_for_device(const Options& options, const Toolchain& tools);
  // The units of everything taken, without those whose registration some object already brings (-dlink's output).
  std::vector<DeviceUnit> units() const;

 private:
  void add(std::string bytes, const std::string& name, bool in_archive);
  void add_file(const std::string& path, bool whole_archive);

  std::vector<Candidate> candidates_;
};

void Inputs::add(std::string bytes, const std::string& name, bool in_archive) {
  if (!ElfObject::is_elf(bytes)) return;  // A linker script, bitcode, …: the host's linker says what it thinks of it.
  ElfObject object(std::move(bytes), name);
  if (object.is_shared_library()) return;  // It has an image of its own.
  const std::string section = object.section("__nv_relfatbin");
  std::vector<DeviceUnit> units = unwrap_bitcode(section, name);
  candidates_.push_back({std::move(object), std::move(units), !in_archive});
}

void Inputs::add_file(const std::string& path, bool whole_archive) {
  std::string bytes = read_file(path);
  if (!is_archive(bytes)) return add(std::move(bytes), path, false);
  for (ArchiveMember& member : archive_members(bytes, path)) add(std::move(member.bytes), member.name, !whole_archive);
}

void Inputs::collect(const Options& o, const std::vector<std::string>& objects) {
  std::vector<std::string> folders;
  for (const LinkItem& item : o.link)
    if (item.argument.starts_with("-L")) folders.push_back(item.argument.substr(2));
  bool whole_archive = false;
  for (const LinkItem& item : o.link) {
    if (item.input >= 0) {
      add_file(objects[item.input], whole_archive);
    } else if (item.argument.find("--whole-archive") != std::string::npos) {
      whole_archive = true;
    } else if (item.argument.find("--no-whole-archive") != std::string::npos) {
      whole_archive = false;
    } else if (item.argument.starts_with("-l")) {
      // System folders hold no device code; a shared library, which a linker prefers, has its own image.
      const std::string name = item.argument.substr(2);
      for (const std::string& folder : folders) {
        const fs::path base(folder);
        std::error_code ignored;
        if (name.starts_with(':') && fs::exists(base / name.substr(1), ignored)) {
          add_file(base / name.substr(1), whole_archive);
          break;
        }
        if (fs::exists(base / ("lib" + name + ".so"), ignored)) break;
        if (fs::exists(base / ("lib" + name + ".a"), ignored)) {
          add_file(base / ("lib" + name + ".a"), whole_archive);
          break;
        }
      }
    }
  }
}

bool Inputs::any_device_code() const {
  for (const Candidate& c : candidates_)
    if (!c.units.empty()) return true;
  return false;
}

void Inputs::take_for_host(bool executable) {
  std::set<std::string> defined, missing;
  const auto take = [&](Candidate& c) {
    c.taken = true;
    for (const ElfSymbol& s : c.object.symbols()) {
      if (!s.global) continue;
      if (s.defined) {
        defined.insert(s.name);
        missing.erase(s.name);
      } else if (!s.weak && !defined.contains(s.name)) {
        missing.insert(s.name);
      }
    }
  };
  for (Candidate& c : candidates_)
    if (c.taken) take(c);
  if (executable && !defined.contains("main")) missing.insert("main");
  for (bool changed = true; changed;) {
    changed = false;
    for (Candidate& c : candidates_) {
      if (c.taken) continue;
      for (const ElfSymbol& s : c.object.symbols()) {
        if (!s.global || !s.defined || !missing.contains(s.name)) continue;
        take(c);
        changed = true;
        break;
      }
    }
  }
}

void Inputs::take_for_device(const Options& o, const Toolchain& tools) {
  bool needed = false;
  for (const Candidate& c : candidates_) needed |= !c.taken && !c.units.empty();
  if (!needed) return;

  // The symbols of each candidate's bitcode, by llvm-nm.
  struct Symbols {
    std::set<std::string> defined, missing;
  };
  std::vector<Symbols> symbols(candidates_.size());
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    for (const DeviceUnit& unit : candidates_[i].units) {
      const fs::path bitcode = TemporaryFolder::name("unit", ".bc"), list = TemporaryFolder::name("unit", ".symbols");
      write_file(bitcode, unit.bitcode);
      if (run(o, {"/bin/sh", "-c", "exec \"$0\" --format=posix \"$1\" >\"$2\"", tools.tool("llvm-nm"), bitcode, list}))
        throw Failure("the device code in " + candidates_[i].object.name() + " can't be read: compile it again");
      const std::string lines = read_file(list);
      for (std::string_view rest = lines; !rest.empty();) {
        const auto end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const auto blank = line.find(' ');
        if (blank == line.npos || blank + 1 >= line.size()) continue;
        const char kind = line[blank + 1];
        const std::string name(line.substr(0, blank));
        if (kind == 'U')
          symbols[i].missing.insert(name);
        else if (kind >= 'A' && kind <= 'Z')
          symbols[i].defined.insert(name);
      }
    }
  }
  Symbols all;
  const auto take = [&](std::size_t i) {
    candidates_[i].taken = true;
    all.defined.insert(symbols[i].defined.begin(), symbols[i].defined.end());
    all.missing.insert(symbols[i].missing.begin(), symbols[i].missing.end());
  };
  for (std::size_t i = 0; i < candidates_.size(); ++i)
    if (candidates_[i].taken) take(i);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].taken) continue;
      for (const std::string& name : symbols[i].defined) {
        if (!all.missing.contains(name) || all.defined.contains(name)) continue;
        take(i);
        changed = true;
        break;
      }
    }
  }
}

std::vector<DeviceUnit> Inputs::units() const {
  std::set<std::string> registered;
  for (const Candidate& c : candidates_)
    if (c.taken)
      for (const ElfSymbol& s : c.object.symbols())
        if (s.defined && s.name.starts_with(register_prefix)) registered.insert(s.name.substr(register_prefix.size()));
  std::vector<DeviceUnit> all;
  for (const Candidate& c : candidates_)
    if (c.taken)
      for (const DeviceUnit& unit : c.units)
        if (!registered.contains(unit.unit)) all.push_back(unit);
  return all;
}

// One -march for the image: the highest of the units'.
std::string common_march(const std::vector<DeviceUnit>& units) {
  std::string highest = "x86-64-v3";
  for (const DeviceUnit& unit : units) {
    if (unit.march != "x86-64-v3" && unit.march != "x86-64-v4")
      throw Failure("an object's device code is for the processor " + unit.march +
                    ", which this mrcc doesn't know: compile it again");
    highest = std::max(highest, unit.march);
  }
  return highest;
}

// Joins the units' bitcode to one file.
fs::path join(const Options& o, const Toolchain& tools, const std::vector<DeviceUnit>& units, const std::string& what) {
  Argv a{tools.tool("llvm-link")};
  for (const DeviceUnit& unit : units) {
    const fs::path bitcode = TemporaryFolder::name("unit", ".bc");
    write_file(bitcode, unit.bitcode);
    a.push_back(bitcode);
  }
  if (units.size() == 1) return a.back();
  const fs::path joined = TemporaryFolder::name("linked", ".bc"), says = TemporaryFolder::name("linked", ".txt");
  a.insert(a.end(), {"-o", joined});
  if (run(o, a, says) == 0) return joined;
  const std::string text = read_file(says);
  std::string_view found(text);
  if (const auto at = found.find("inking globals named '"); at != found.npos) {
    found.remove_prefix(at + 22);
    throw Failure("the device code of " + what + " defines '" +
                  demangled(std::string(found.substr(0, found.find('\'')))) +
                  "' more than once: make all definitions but one extern, static or inline");
  }
  throw Failure("the device code of " + what + " can't be joined:\n" + text);
}

// The object that registers the image in the name of every unit. A unit's constructor calls its function with what
// registers its kernels and variables; the first one loads the image.
void make_registration(const Options& o, const Toolchain& tools, const std::vector<DeviceUnit>& units,
                       const fs::path& image, const fs::path& output) {
  std::string c;
  if (!units.empty()) {
    c = R"(typedef void (*register_globals)(void**);
extern void** __cudaRegisterFatBinary(void*);
extern void __cudaRegisterFatBinaryEnd(void**);
extern void __cudaUnregisterFatBinary(void**);
extern int atexit(void (*)(void));
extern const char mrcc_image[] __attribute__((visibility("hidden")));
__asm__(".pushsection .nv_fatbin,\"a\",@progbits\n.balign 16\n.hidden mrcc_image\nmrcc_image:\n.incbin \")" +
        image.string() + R"(\"\n.popsection");
static struct { unsigned magic, version; const void* data; void* unused; } wrapper
  __attribute__((used, section(".nvFatBinSegment"))) = {0x466243b1u, 1, mrcc_image, 0};
static void** handle;
static void unregister(void) { __cudaUnregisterFatBinary(handle); handle = 0; }
static void add(register_globals globals) {
  if (!handle) {
    handle = __cudaRegisterFatBinary(&wrapper);
    atexit(unregister);
  }
  globals(handle);
  __cudaRegisterFatBinaryEnd(handle);
}
)";
    for (const DeviceUnit& unit : units)
      c += "__attribute__((visibility(\"hidden\"))) void " + std::string(register_prefix) + unit.unit +
           "(register_globals globals, void* wrapper, void* id, void* callback) { (void)wrapper, (void)id, "
           "(void)callback, add(globals); }\n";
  }
  const fs::path source = TemporaryFolder::name("registration", ".c");
  write_file(source, c);
  if (run(o, {tools.tool("clang"), "-O1", "-fPIC", "-c", source, "-o", output})) throw Failure("");
}

}  // namespace

std::string link_device_code(const Options& o, const Toolchain& tools, const Compiler& compiler,
                             const std::vector<std::string>& objects) {
  if (o.dry_run) return {};
  const bool alone = o.phase == Phase::device_link;
  Inputs inputs;
  inputs.collect(o, objects);
  std::vector<DeviceUnit> units;
  if (inputs.any_device_code()) {
    inputs.take_for_host(!o.shared);
    inputs.take_for_device(o, tools);
    units = inputs.units();
  }
  if (units.empty() && !alone) return {};
  const bool image_only = !o.image_suffix.empty();
  const std::string name = "a_dlink" + (image_only ? o.image_suffix : ".o");
  const fs::path output = alone ? fs::path(o.output.empty() ? name : o.output)
                                : TemporaryFolder::name("registration", ".o");
  fs::path image;
  if (!units.empty()) {
    const std::string what = !alone && !o.output.empty() ? o.output : alone ? output.string() : "a.out";
    const fs::path joined = join(o, tools, units, what), object = TemporaryFolder::name("linked", ".device.o");
    image = image_only ? output : TemporaryFolder::name("linked", ".image.so");
    const std::string march = common_march(units);
    const auto make = [&](const Compiler& by, const fs::path& to) {
      Argv a{tools.tool("clang++"), "-Wno-unused-command-line-argument", "-x", "ir"};
      const Argv flags = by.device_code_flags(Compiler::Stage::image, march);
      a.insert(a.end(), flags.begin(), flags.end());
      a.insert(a.end(), {"-c", joined, "-o", object});
      if (run(o, a)) throw Failure("");
      Options rdc = o;
      rdc.relocatable = true;  // For the advice in messages.
      link_image(rdc, tools, {object}, to, what);
    };
    make(compiler, image);
    if (o.check) {
      const Options plain_options = without_checks(o);
      const fs::path plain = TemporaryFolder::name("linked", ".plain.so");
      make(Compiler(plain_options, tools), plain);
      write_file(image, with_instrumented(read_file(plain), read_file(image)));
    }
  }
  if (image_only && units.empty())
    throw Failure("the inputs have no relocatable device code to make an image of: compile them with -dc");
  if (!image_only) make_registration(o, tools, units, image, output);
  return output;
}

}  // namespace mrcc

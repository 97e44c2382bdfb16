// The words between an instruction's name and its types: an instruction of arithmetic with one that the table doesn't
// look at has another meaning than the one that the table knows, and must be refused.
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include "ptx_table.h"

namespace mrcc::ptx {
using namespace llvm;

namespace {

struct Group {
  StringRef names, words;  // separated by spaces
};
// Subnormal numbers are kept, so `ftz` says nothing here; nor do the degrees of approximation.
constexpr StringRef ignored = "ftz approx full rn uni";
constexpr Group groups[] = {
    {"add addc sub subc", "cc sat rz rm rp"},
    {"mul mad fma madc", "lo hi wide cc sat rz rm rp relu"},
    {"mul24 mad24", "lo hi"},
    {"div rem rcp sqrt", "rz rm rp"},
    {"and or xor not cnot popc clz brev bfe bfi mov selp sad neg abs rsqrt sin cos ex2 lg2 tanh copysign slct shl shr "
     "lop3",
     ""},
    {"dp2a", "lo hi"},
    {"dp4a", ""},
    {"bfind", "shiftamt"},
    {"shf", "l r wrap clamp"},
    {"prmt", "f4e b4e rc8 ecl ecr rc16"},
    {"min max", "NaN"},
    {"setp set", "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor"},
    {"cvt", "rni rzi rmi rpi rz rm rp sat pack rna tf32"},
};

bool lists(StringRef list, StringRef word) {
  SmallVector<StringRef, 24> all;
  list.split(all, ' ', -1, false);
  return is_contained(all, word);
}

}  // namespace

bool Table::understood() const {
  const auto* group = find_if(groups, [&](const Group& g) { return lists(g.names, s.words[0]); });
  if (group == std::end(groups)) return true;
  return all_of(ArrayRef(s.words).drop_front(), [&](const std::string& word) {
    return parse_type(word).known() || lists(group->words, word) || lists(ignored, word);
  });
}

}  // namespace mrcc::ptx

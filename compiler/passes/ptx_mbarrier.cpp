// The table of translated instructions: mbarrier objects, and the bulk copies that they count.
//
// An object is the word of cuda::barrier (millrace/libcu/barrier.h, packed_counters): arrivals that are pending (bits 0
// to 19) and expected in each phase (20 to 39), the phase's parity (40), and bytes that are expected and haven't come,
// which may be negative (41 to 63). Whoever brings pending arrivals and bytes to zero opens the next phase; nobody else
// may touch the object then. Arrivals release what the waiters' loads acquire.
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include "context.h"
#include "ptx_table.h"

namespace mrcc::ptx {
using namespace llvm;

namespace {

constexpr unsigned expected_bit = 20, parity_bit = 40, bytes_bit = 41;
constexpr std::uint64_t count_mask = (1u << 20) - 1;

struct Object {
  IRBuilder<>& b;
  Value* at;

  Value* load() const {
    LoadInst* word = b.CreateAlignedLoad(b.getInt64Ty(), at, Align(8));
    word->setAtomic(AtomicOrdering::Acquire);
    return word;
  }
  Value* parity(Value* word) const { return b.CreateAnd(b.CreateLShr(word, parity_bit), 1); }

  // Adds to the word, which may end its phase; what it was before.
  Value* add(Value* change) const {
    Value* old = b.CreateAtomicRMW(AtomicRMWInst::Add, at, change, Align(8), AtomicOrdering::AcquireRelease);
    Value* now = b.CreateAdd(old, change);
    Value* over = b.CreateICmpEQ(b.CreateAnd(now, b.getInt64(~std::uint64_t{0} << bytes_bit | count_mask)),
                                 b.getInt64(0));
    Instruction* before = &*b.GetInsertPoint();
    Instruction* last = SplitBlockAndInsertIfThen(over, before, /*Unreachable=*/false);
    b.SetInsertPoint(last);
    Value* expected = b.CreateAnd(b.CreateLShr(now, expected_bit), count_mask);
    Value* next = b.CreateOr(b.CreateXor(now, std::uint64_t{1} << parity_bit), expected);
    b.CreateAlignedStore(next, at, Align(8))->setAtomic(AtomicOrdering::Release);
    b.SetInsertPoint(before);
    return old;
  }
};

}  // namespace

bool Table::phases(bool& known) {
  const StringRef op = s.words[0];
  IRBuilder<>& b = t.b_;
  const bool bulk = op == "cp" && s.has("async") && s.has("bulk");
  known = op == "mbarrier" || bulk;
  if (!known) return false;
  // Without .shared the address of an object is a generic one.
  const bool in_window = bulk || s.has("shared") || s.has("shared::cta") || s.has("shared::cluster");
  const auto at = [&](const Operand& o) { return pointer(o, in_window); };
  const auto bytes = [&](Value* n) { return b.CreateShl(n, bytes_bit); };
  const Type word{'b', 64}, count{'u', 32};

  if (bulk) {
    if (s.has("commit_group") || s.has("wait_group")) return true;
    if (s.has("tensor") || s.has("prefetch") || s.has("multicast::cluster"))
      return s.has("prefetch") && !s.has("tensor");
    const auto global = [&](const Operand& o) -> Value* {
      if (o.kind != Operand::memory || o.parts.empty()) return nullptr;
      Value* address = t.read(o.parts[0], word);
      if (o.offset) address = b.CreateAdd(address, b.getInt64(o.offset));
      return b.CreateIntToPtr(address, b.getPtrTy());
    };
    const bool counted = s.has("mbarrier::complete_tx::bytes");
    if (s.operands.size() < (counted ? 4u : 3u) || s.words.size() < 5) return false;
    // cp.async.bulk.TO.FROM
    const StringRef to = s.words[3], from = s.words[4];
    if (to.starts_with("shared") == (from != "global") || (counted && from != "global")) return false;
    Value* target = to.starts_with("shared") ? at(s.operands[0]) : global(s.operands[0]);
    Value* source = from == "global" ? global(s.operands[1]) : at(s.operands[1]);
    if (!target || !source) return false;
    Value* size = t.read(s.operands[2], {'u', 32});
    size = b.CreateZExt(size, b.getInt64Ty());
    b.CreateMemCpy(target, MaybeAlign(), source, MaybeAlign(), size);
    if (!counted) return true;
    Value* object = at(s.operands[3]);
    if (!object) return false;
    Object{b, object}.add(b.CreateNeg(bytes(size)));
    return true;
  }

  if (s.words.size() < 2) return false;
  const StringRef what = s.words[1];
  if (what == "inval") return true;
  if (what == "pending_count") return out(b.CreateTrunc(b.CreateAnd(in(1, word), count_mask), b.getInt32Ty()));
  // The first address; what is before it is the result, what is behind it are the arguments.
  unsigned place = 0;
  while (place < s.operands.size() && s.operands[place].kind != Operand::memory) ++place;
  if (place > 1 || place == s.operands.size()) return false;
  Value* address = at(s.operands[place]);
  if (!address) return false;
  const Object object{b, address};
  const auto argument = [&](Type type) -> Value* {
    return place + 1 < s.operands.size() ? b.CreateZExt(in(place + 1, type), b.getInt64Ty()) : b.getInt64(1);
  };
  if (what == "init") {
    Value* n = b.CreateAnd(argument(count), count_mask);
    b.CreateAlignedStore(b.CreateOr(n, b.CreateShl(n, expected_bit)), address, Align(8))
        ->setAtomic(AtomicOrdering::Release);
    return true;
  }
  if (what == "expect_tx") return object.add(bytes(argument(count)));
  if (what == "complete_tx") return object.add(b.CreateNeg(bytes(argument(count))));
  if (what == "arrive" || what == "arrive_drop") {
    const bool tx = s.has("expect_tx");
    Value* n = tx ? static_cast<Value*>(b.getInt64(1)) : argument(count);
    if (what == "arrive_drop") n = b.CreateOr(n, b.CreateShl(n, expected_bit));
    Value* change = b.CreateNeg(n);
    if (tx) change = b.CreateAdd(change, bytes(argument(count)));
    Value* old = object.add(change);
    if (place == 1) t.write(s.operands[0], old);
    return true;
  }
  if ((what == "test_wait" || what == "try_wait") && place == 1 && s.operands.size() >= 3) {
    Value* awaited = s.has("parity") ? b.CreateZExt(in(2, count), b.getInt64Ty()) : object.parity(in(2, word));
    return out(b.CreateICmpNE(object.parity(object.load()), b.CreateAnd(awaited, 1)));
  }
  return false;
}

}  // namespace mrcc::ptx

#include <simt/operand.h>

#include <cstring>

namespace mr::simt {
namespace {

std::uint64_t register_value(const ucontext_t& context, unsigned number) noexcept {
  static constexpr int order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return static_cast<std::uint64_t>(context.uc_mcontext.gregs[order[number & 15]]);
}

// True for one-byte opcodes whose next byte is a ModRM byte (those that compilers emit with memory operands).
bool has_modrm(unsigned opcode) noexcept {
  if (opcode < 0x40) return (opcode & 7) < 4;
  if (opcode >= 0x80 && opcode <= 0x8f) return true;
  switch (opcode) {
  case 0x63:
  case 0x69:
  case 0x6b:
  case 0xc0:
  case 0xc1:
  case 0xc6:
  case 0xc7:
  case 0xd0:
  case 0xd1:
  case 0xd2:
  case 0xd3:
  case 0xf6:
  case 0xf7:
  case 0xfe:
  case 0xff: return true;
  default: return opcode >= 0xd8 && opcode <= 0xdf;
  }
}

}  // namespace

std::optional<std::uint64_t> operand_address(const ucontext_t& context) noexcept {
  const auto* p = reinterpret_cast<const std::uint8_t*>(context.uc_mcontext.gregs[REG_RIP]);
  while (*p == 0x66 || *p == 0xf2 || *p == 0xf3 || *p == 0x2e || *p == 0x36 || *p == 0x3e || *p == 0x26 || *p == 0x64 ||
         *p == 0x65 || *p == 0xf0)
    ++p;
  unsigned x = 0, b = 0;  // the extension bits of the index and base registers
  std::int64_t displacement_scale = 1;
  bool modrm_follows = true;
  unsigned immediate = 0;  // bytes behind the operand, for rip-relative ones
  if (*p == 0xc5) {        // VEX, two bytes
    p += 3;
  } else if (*p == 0xc4) {  // VEX, three bytes
    x = !(p[1] & 0x40), b = !(p[1] & 0x20);
    immediate = (p[1] & 31) == 3;
    p += 4;
  } else if (*p == 0x62) {  // EVEX; 8-bit displacements count in vectors
    x = !(p[1] & 0x40), b = !(p[1] & 0x20);
    immediate = (p[1] & 7) == 3;
    displacement_scale = 16 << (p[3] >> 5 & 3);
    p += 5;
  } else {
    if ((*p & 0xf0) == 0x40) x = *p >> 1 & 1, b = *p & 1, ++p;
    if (*p == 0x0f) {
      ++p;
      if (*p == 0x38 || *p == 0x3a) immediate = *p == 0x3a, ++p;
      ++p;
    } else {
      modrm_follows = has_modrm(*p);
      ++p;
    }
  }
  if (!modrm_follows) return std::nullopt;
  const unsigned mode = *p >> 6, base = *p & 7;
  ++p;
  if (mode == 3) return std::nullopt;
  std::uint64_t address = 0;
  bool no_base = false;
  if (base == 4) {
    const unsigned scale = *p >> 6, index = (*p >> 3 & 7) | x << 3, sib_base = *p & 7;
    ++p;
    if (index != 4) address += register_value(context, index) << scale;
    no_base = sib_base == 5 && mode == 0;
    if (!no_base) address += register_value(context, sib_base | b << 3);
  } else if (base == 5 && mode == 0) {  // relative to the next instruction
    std::int32_t displacement;
    std::memcpy(&displacement, p, 4);
    return reinterpret_cast<std::uint64_t>(p) + 4 + immediate + static_cast<std::uint64_t>(std::int64_t{displacement});
  } else {
    address += register_value(context, base | b << 3);
  }
  if (mode == 1) {
    address += static_cast<std::uint64_t>(static_cast<std::int8_t>(*p) * displacement_scale);
  } else if (mode == 2 || no_base) {
    std::int32_t displacement;
    std::memcpy(&displacement, p, 4);
    address += static_cast<std::uint64_t>(std::int64_t{displacement});
  }
  return address;
}

}  // namespace mr::simt

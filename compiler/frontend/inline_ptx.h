// `asm` statements of device code are PTX (passes/ptx.h), with PTX's constraint letters. clang checks them as assembly
// for the processor, so the letters it doesn't know become those of a register of the processor while the tokens pass.
#pragma once

namespace clang {
class Preprocessor;
}

// In the device pass only: the host's assembly keeps its letters.
void watch_inline_ptx(clang::Preprocessor& preprocessor);

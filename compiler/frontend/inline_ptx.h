// `asm` statements of device code are PTX (passes/ptx.h), with PTX's constraint letters. clang checks them as assembly
// for the processor, so the letters it doesn't know become those of a register of the processor while the tokens pass.
#pragma once

namespace clang {
class Preprocessor;
}

// In both passes special registers' names get the `%%` that clang asks for. Letters are changed in the device pass
// alone: the host's assembly keeps its own.
void watch_inline_ptx(clang::Preprocessor& preprocessor, bool device);

// Stack switching. A suspended context is a stack pointer: the six callee-saved registers lie there, above them the address
// to return to. Whoever resumes it passes a value, which the suspended call returns. MXCSR and the x87 control word are not
// saved: device code does not change them.
//
// The fault handler abandons device code by pointing the interrupted context at mr_simt_resume (with keys:
// mr_simt_resume_protected) with rsp = the suspended host context and rax = the value; no set-up per launch is needed.
  .intel_syntax noprefix
  .text

  .macro FUNCTION name
  .globl \name
  .hidden \name
  .type \name, @function
  .p2align 5
\name:
  .endm

  .macro SAVE
  push rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset rbp, 0
  mov rbp, rsp
  push rbx
  push r12
  push r13
  push r14
  push r15
  .endm

// std::uint64_t mr_simt_call(std::uint64_t* save, std::uint64_t top, function, a, b, c)
// Suspends the caller's context into *save, calls function(a, b, c) on the stack that begins at `top` (16-byte aligned), and
// returns 0; or the value, when somebody resumed *save instead.
FUNCTION mr_simt_call
  .cfi_startproc
  SAVE
  .cfi_def_cfa rbp, 16
  mov [rdi], rsp
  mov rsp, rsi
  mov rax, rdx
  mov rdi, rcx
  mov rsi, r8
  mov rdx, r9
  call rax
  xor eax, eax
  lea rsp, [rbp - 40]
  pop r15
  pop r14
  pop r13
  pop r12
  pop rbx
  pop rbp
  .cfi_def_cfa rsp, 8
  ret
  .cfi_endproc

// std::uint64_t mr_simt_switch(std::uint64_t* save, std::uint64_t to, std::uint64_t value)
// Suspends the caller into *save and resumes `to` with `value`; returns the value that the caller is resumed with.
FUNCTION mr_simt_switch
  .cfi_startproc
  SAVE
  .cfi_def_cfa rsp, 56
  mov [rdi], rsp
  mov rsp, rsi
  mov rax, rdx
  .globl mr_simt_resume
  .hidden mr_simt_resume
mr_simt_resume:
  pop r15
  pop r14
  pop r13
  pop r12
  pop rbx
  pop rbp
  .cfi_def_cfa rsp, 8
  ret
  .cfi_endproc

// [[noreturn]] void mr_simt_jump(std::uint64_t to, std::uint64_t value): resumes `to`; the caller's context is lost.
FUNCTION mr_simt_jump
  mov rsp, rdi
  mov rax, rsi
  jmp mr_simt_resume

// std::uint64_t mr_simt_start(std::uint64_t* save, std::uint64_t top)
// Suspends the caller into *save and begins mr_simt_lane_main() on a fresh stack.
FUNCTION mr_simt_start
  .cfi_startproc
  SAVE
  .cfi_def_cfa rsp, 56
  mov [rdi], rsp
  mov rsp, rsi
  xor ebp, ebp
  call mr_simt_lane_main
  ud2
  .cfi_endproc

  .section .note.GNU-stack, "", @progbits

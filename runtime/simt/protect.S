// Changing rights (PKRU) where device code begins and ends. WRPKRU wants ecx = edx = 0 and the rights in eax; 0 = all of them.
// None of this is reached when protection keys are not in use.
  .intel_syntax noprefix
  .text

  .macro FUNCTION name
  .globl \name
  .hidden \name
  .type \name, @function
  .p2align 4
\name:
  .endm

  .macro TAKE_ALL_RIGHTS
  xor ecx, ecx
  xor edx, edx
  xor eax, eax
  wrpkru
  .endm

// void mr_simt_run_device(function, a, b, c): calls function(a, b, c) with the rights of device code.
FUNCTION mr_simt_run_device
  .cfi_startproc
  push rbx
  .cfi_adjust_cfa_offset 8
  mov r8, rdi
  mov r9, rsi
  mov r10, rdx
  mov r11, rcx
  mov eax, [rip + mr_simt_device_rights]
  xor ecx, ecx
  xor edx, edx
  wrpkru
  mov rdi, r9
  mov rsi, r10
  mov rdx, r11
  call r8
  TAKE_ALL_RIGHTS
  pop rbx
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc

// Entries of the switching services table: number n takes all rights, calls entry n of the direct table, and gives the rights back.
// Arguments may be in rdi rsi rdx rcx r8 r9 xmm0 and on the stack; the result is in rax. rdx and rcx wait in vector registers that
// nobody expects to be kept (all processors with AVX: device code needs it), and the return address in MrLane.spare[2], so that
// stack arguments are where the service expects them. Nothing on the way reads memory that device code may not.
  .macro LANE_IN_R10
  mov rax, rsp
  shr rax, 12
  and eax, 0xfc0
  mov r10, rsp
  and r10, -0x40000
  add r10, rax
  .endm

FUNCTION mr_simt_switch_rights
  LANE_IN_R10
  vmovq xmm8, rdx
  vmovq xmm9, rcx
  TAKE_ALL_RIGHTS
  vmovq rdx, xmm8
  vmovq rcx, xmm9
  pop rax
  mov [r10 + 56], rax
  lea rax, [rip + mr_simt_direct_services]
  call [rax + r11 * 8 + 8]
  mov r9, rax
  LANE_IN_R10
  push [r10 + 56]
  mov eax, [rip + mr_simt_device_rights]
  xor ecx, ecx
  xor edx, edx
  wrpkru
  mov rax, r9
  ret

// 64 entries of 16 bytes.
FUNCTION mr_simt_switching_entries
  .set number, 0
  .rept 64
  .p2align 4
  mov r11d, number
  jmp mr_simt_switch_rights
  .set number, number + 1
  .endr

// Signal handlers begin with the kernel's initial rights (key 0 only), on a stack that has another key: no memory before WRPKRU.
  .macro HANDLER name, target
FUNCTION \name
  mov r8, rdx
  TAKE_ALL_RIGHTS
  mov rdx, r8
  jmp [rip + \target]
  .endm
HANDLER mr_simt_fault_entry, mr_simt_fault_handler
HANDLER mr_simt_interrupt_entry, mr_simt_interrupt_handler

// mr_simt_resume for a context that device code was left for by a signal handler.
FUNCTION mr_simt_resume_with_rights
  mov r8, rax
  TAKE_ALL_RIGHTS
  mov rax, r8
  jmp mr_simt_resume

  .section .note.GNU-stack, "", @progbits

# CUPTI's two buffer callbacks for x86-64 (System V calling convention), position independent.
#
# They run on CUPTI's threads, under CUPTI's lock, and so must not wait for anything: no Python,
# no lock of ours. Code and state share one mapping; the state begins STATE bytes after the code.
# _trampoline.py holds the assembled bytes and writes the state; a test assembles this file and
# compares.
#
#   as --64 trampoline_x86_64.s -o t.o && objcopy -O binary -j .text t.o t.bin

        .intel_syntax noprefix
        .text
base:
        .equ STATE, 0x10000
        # the state, 8 bytes each
        .equ MALLOC,    base + STATE + 0        # void *(*)(size_t)
        .equ FREE,      base + STATE + 8        # void (*)(void *)
        .equ HEAD,      base + STATE + 16       # completed buffers, newest first
        .equ SIZE,      base + STATE + 24       # bytes of a buffer
        .equ SMALL,     base + STATE + 32       # bytes of a buffer that will be thrown away
        .equ LIMIT,     base + STATE + 40       # bytes that may be held at once
        .equ HELD,      base + STATE + 48       # bytes held
        .equ REQUESTED, base + STATE + 56       # calls of request
        .equ COMPLETED, base + STATE + 64       # calls of complete
        .equ REFUSED,   base + STATE + 72       # requests answered with no buffer
        .equ LOST,      base + STATE + 80       # records thrown away
        .equ STEPS,     base + STATE + 128      # 64 bytes: record size / 8 by kind, 0 = unknown
        # the header before each buffer
        .equ NODE_NEXT,    0
        .equ NODE_VALID,   8
        .equ NODE_HOLDS,   16                   # bytes counted in HELD; 0: throw away when complete
        .equ NODE_BYTES,   64

# void request(uint8_t **buffer, size_t *size, size_t *max_records)
        .globl request
request:
        push    rbx
        push    r12
        push    r13                             # three pushes: the stack is aligned for calls
        mov     rbx, rdi
        mov     r12, rsi
        mov     qword ptr [rdx], 0              # as many records as fit
        lock inc qword ptr [rip + REQUESTED]
        mov     r13, [rip + SIZE]
        mov     rax, r13
        lock xadd [rip + HELD], rax
        add     rax, r13
        cmp     rax, [rip + LIMIT]
        ja      1f
        lea     rdi, [r13 + NODE_BYTES]
        call    [rip + MALLOC]
        test    rax, rax
        jz      1f
        mov     [rax + NODE_HOLDS], r13
        jmp     2f
1:      # no room: a small buffer whose records are counted and dropped
        lock sub [rip + HELD], r13
        mov     r13, [rip + SMALL]
        lea     rdi, [r13 + NODE_BYTES]
        call    [rip + MALLOC]
        test    rax, rax
        jz      3f
        mov     qword ptr [rax + NODE_HOLDS], 0
2:      add     rax, NODE_BYTES
        jmp     4f
3:      # no memory at all: the library drops the records and counts them
        lock inc qword ptr [rip + REFUSED]
        xor     r13d, r13d
4:      mov     [rbx], rax
        mov     [r12], r13
        pop     r13
        pop     r12
        pop     rbx
        ret

# void complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
        .balign 16, 0xcc
        .globl complete
complete:
        test    rdx, rdx
        jz      3f
        lock inc qword ptr [rip + COMPLETED]
        lea     rdi, [rdx - NODE_BYTES]
        cmp     qword ptr [rdi + NODE_HOLDS], 0
        je      4f
        mov     [rdi + NODE_VALID], r8
        mov     rax, [rip + HEAD]
2:      mov     [rdi + NODE_NEXT], rax
        lock cmpxchg [rip + HEAD], rdi
        jne     2b
3:      ret
4:      # throw away: count the records first, one for an unknown remainder
        xor     eax, eax
        add     r8, rdx                         # end of the records
        lea     r9, [rip + STEPS]
5:      cmp     rdx, r8
        jae     6f
        inc     rax
        mov     ecx, [rdx]
        cmp     ecx, 64
        jae     6f
        movzx   ecx, byte ptr [r9 + rcx]
        test    ecx, ecx
        jz      6f
        lea     rdx, [rdx + rcx * 8]
        jmp     5b
6:      lock add [rip + LOST], rax
        jmp     [rip + FREE]

# node *drain(void): every completed buffer, newest first
        .balign 16, 0xcc
        .globl drain
drain:
        xor     eax, eax
        xchg    rax, [rip + HEAD]
        ret

# void release(node *): give a drained buffer back
        .balign 16, 0xcc
        .globl release
release:
        mov     rax, [rdi + NODE_HOLDS]
        lock sub [rip + HELD], rax
        jmp     [rip + FREE]

# void ignore(void): a callback that does nothing
        .balign 16, 0xcc
        .globl ignore
ignore:
        ret

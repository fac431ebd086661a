// CUPTI's two buffer callbacks for aarch64 (AAPCS64), position independent; the same machine as
// trampoline_x86_64.s, with load/store exclusive loops so that any ARMv8 processor runs it.
//
//   aarch64-linux-gnu-as trampoline_aarch64.s -o t.o && objcopy -O binary -j .text t.o t.bin

        .text
base:
        .equ STATE, 0x10000
        // the state, 8 bytes each, from the address the macro `state` gives
        .equ MALLOC,    0
        .equ FREE,      8
        .equ HEAD,      16
        .equ SIZE,      24
        .equ SMALL,     32
        .equ LIMIT,     40
        .equ HELD,      48
        .equ REQUESTED, 56
        .equ COMPLETED, 64
        .equ REFUSED,   72
        .equ LOST,      80
        .equ STEPS,     128
        // the header before each buffer
        .equ NODE_NEXT,    0
        .equ NODE_VALID,   8
        .equ NODE_HOLDS,   16
        .equ NODE_BYTES,   64

        .macro  state reg
        adr     \reg, base + STATE
        .endm

        // *(x9 + \at) += \value; leaves the sum in x10; clobbers x11, x12
        .macro  atomic_add at, value
        add     x12, x9, #\at
9:      ldaxr   x10, [x12]
        add     x10, x10, \value
        stlxr   w11, x10, [x12]
        cbnz    w11, 9b
        .endm

// void request(uint8_t **buffer, size_t *size, size_t *max_records)
        .globl request
request:
        stp     x29, x30, [sp, #-48]!
        mov     x29, sp
        stp     x19, x20, [sp, #16]
        stp     x21, x22, [sp, #32]
        mov     x19, x0
        mov     x20, x1
        str     xzr, [x2]                       // as many records as fit
        state   x22
        mov     x9, x22
        mov     x13, #1
        atomic_add REQUESTED, x13
        ldr     x21, [x22, #SIZE]
        atomic_add HELD, x21
        ldr     x13, [x22, #LIMIT]
        cmp     x10, x13
        b.hi    1f
        add     x0, x21, #NODE_BYTES
        ldr     x9, [x22, #MALLOC]
        blr     x9
        cbz     x0, 1f
        str     x21, [x0, #NODE_HOLDS]
        b       2f
1:      // no room: a small buffer whose records are counted and dropped
        mov     x9, x22
        neg     x13, x21
        atomic_add HELD, x13
        ldr     x21, [x22, #SMALL]
        add     x0, x21, #NODE_BYTES
        ldr     x9, [x22, #MALLOC]
        blr     x9
        cbz     x0, 3f
        str     xzr, [x0, #NODE_HOLDS]
2:      add     x0, x0, #NODE_BYTES
        b       4f
3:      // no memory at all: the library drops the records and counts them
        mov     x9, x22
        mov     x13, #1
        atomic_add REFUSED, x13
        mov     x21, xzr
4:      str     x0, [x19]
        str     x21, [x20]
        ldp     x19, x20, [sp, #16]
        ldp     x21, x22, [sp, #32]
        ldp     x29, x30, [sp], #48
        ret

// void complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
        .balign 16, 0
        .globl complete
complete:
        cbz     x2, 8f
        state   x9
        mov     x13, #1
        atomic_add COMPLETED, x13
        sub     x0, x2, #NODE_BYTES
        ldr     x13, [x0, #NODE_HOLDS]
        cbz     x13, 4f
        str     x4, [x0, #NODE_VALID]
        add     x12, x9, #HEAD
2:      ldr     x10, [x12]
        str     x10, [x0, #NODE_NEXT]           // outside the exclusive pair, which it could break
3:      ldaxr   x11, [x12]
        cmp     x11, x10
        b.ne    2b
        stlxr   w14, x0, [x12]
        cbnz    w14, 3b
        ret
4:      // throw away: count the records first, one for an unknown remainder
        mov     x5, xzr
        add     x4, x4, x2                      // end of the records
        add     x6, x9, #STEPS
5:      cmp     x2, x4
        b.hs    7f
        add     x5, x5, #1
        ldr     w7, [x2]
        cmp     w7, #64
        b.hs    7f
        ldrb    w7, [x6, x7]
        cbz     w7, 7f
        add     x2, x2, x7, lsl #3
        b       5b
7:      atomic_add LOST, x5
        ldr     x9, [x9, #FREE]
        br      x9
8:      ret

// node *drain(void): every completed buffer, newest first
        .balign 16, 0
        .globl drain
drain:
        state   x9
        add     x9, x9, #HEAD
1:      ldaxr   x0, [x9]
        stlxr   w11, xzr, [x9]
        cbnz    w11, 1b
        ret

// void release(node *): give a drained buffer back
        .balign 16, 0
        .globl release
release:
        state   x9
        ldr     x13, [x0, #NODE_HOLDS]
        neg     x13, x13
        atomic_add HELD, x13
        ldr     x9, [x9, #FREE]
        br      x9

// void ignore(void): a callback that does nothing
        .balign 16, 0
        .globl ignore
ignore:
        ret

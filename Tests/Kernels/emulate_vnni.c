// Runs kernels that use AVX-VNNI on processors without it. The processor does everything else itself, and leaves the two
// instructions that it does not know to a handler of the signal for those. Source of their encoding and what they do: Intel 64 and
// IA-32 Architectures Software Developer's Manual, volume 2.
//
// This file stands in for `dispatch.c`: the same, but told that the processor has them.
#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

/// Registers in the order of instructions' numbers.
static const int registers[16] = {
    REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

/// Where the upper halves of vector registers stand in a saved state, and the bit that says that they do.
static unsigned upper_offset;
#define HEADER_OFFSET 512
#define UPPER_BIT 4

static void fail(const uint8_t *code) {
    char line[100];
    const int count = snprintf(
        line, sizeof line, "an instruction that is not emulated: %02x %02x %02x %02x %02x %02x\n", code[0], code[1], code[2],
        code[3], code[4], code[5]);
    if (write(2, line, (size_t)count) != count) _exit(4);
    _exit(3);
}

/// The address that an operand in memory means. `code` is its ModRM byte; it is set to the instruction's end.
static const void *address(const greg_t *values, const uint8_t **code, unsigned x, unsigned b) {
    const uint8_t *p = *code;
    const unsigned mode = *p >> 6, rm = *p & 7;
    int64_t at = 0;
    int32_t displacement = 0;
    unsigned width = mode == 1 ? 1 : mode == 2 ? 4 : 0;
    bool from_code = false;
    p++;
    if (rm == 4) {
        const unsigned sib = *p++, index = (sib >> 3 & 7) | x << 3, base = sib & 7;
        if (index != 4) at += values[registers[index]] << (sib >> 6);
        if (base == 5 && mode == 0) {
            width = 4;
        } else {
            at += values[registers[base | b << 3]];
        }
    } else if (rm == 5 && mode == 0) {
        from_code = true;
        width = 4;
    } else {
        at += values[registers[rm | b << 3]];
    }
    if (width == 1) displacement = (int8_t)*p;
    if (width == 4) memcpy(&displacement, p, 4);
    p += width;
    *code = p;
    return (const void *)(at + displacement + (from_code ? (int64_t)p : 0));
}

static void load_register(const uint8_t *state, unsigned number, uint8_t value[32]) {
    memcpy(value, state + 160 + 16 * number, 16);
    memcpy(value + 16, state + upper_offset + 16 * number, 16);
}

static void handle(int signal, siginfo_t *info, void *context) {
    greg_t *values = ((ucontext_t *)context)->uc_mcontext.gregs;
    uint8_t *state = (uint8_t *)((ucontext_t *)context)->uc_mcontext.fpregs;
    const uint8_t *code = (const uint8_t *)values[REG_RIP];
    const uint8_t opcode = code[3];
    (void)signal;
    (void)info;
    // VEX.256.66.0F38.W0 50 (vpdpbusd) or 52 (vpdpwssd)
    if (code[0] != 0xc4 || (code[1] & 31) != 2 || (code[2] & 0x87) != 5 || (opcode != 0x50 && opcode != 0x52)) fail(code);
    const unsigned r = !(code[1] >> 7 & 1), x = !(code[1] >> 6 & 1), b = !(code[1] >> 5 & 1), v = ~code[2] >> 3 & 15;
    uint64_t present;
    memcpy(&present, state + HEADER_OFFSET, 8);
    if (!(present & UPPER_BIT)) {    // all of them are nought
        memset(state + upper_offset, 0, 256);
        present |= UPPER_BIT;
        memcpy(state + HEADER_OFFSET, &present, 8);
    }
    const uint8_t *end = code + 4;
    const unsigned destination = (*end >> 3 & 7) | r << 3;
    uint8_t first[32], second[32];
    int32_t sums[8];
    load_register(state, v, first);
    load_register(state, destination, (uint8_t *)sums);
    if (*end >> 6 == 3) {
        load_register(state, (*end & 7) | b << 3, second);
        end++;
    } else {
        memcpy(second, address(values, &end, x, b), 32);
    }
    for (int lane = 0; lane < 8; lane++) {
        uint32_t sum = (uint32_t)sums[lane];
        for (int i = 4 * lane; i < 4 * lane + 4; i++) {
            if (opcode == 0x50) sum += (uint32_t)(first[i] * (int8_t)second[i]);
        }
        for (int i = 4 * lane; i < 4 * lane + 4; i += 2) {
            int16_t one, two;
            memcpy(&one, first + i, 2);
            memcpy(&two, second + i, 2);
            if (opcode == 0x52) sum += (uint32_t)(one * two);
        }
        sums[lane] = (int32_t)sum;
    }
    memcpy(state + 160 + 16 * destination, sums, 16);
    memcpy(state + upper_offset + 16 * destination, sums + 4, 16);
    values[REG_RIP] = (greg_t)end;
}

static int emulated_cpuid_count(unsigned leaf, unsigned subleaf, unsigned *a, unsigned *b, unsigned *c, unsigned *d) {
    if (!__get_cpuid_count(leaf, subleaf, a, b, c, d)) return 0;
    if (leaf == 7 && subleaf == 1 && !(*a >> 4 & 1)) {
        unsigned size = 0, e, f;
        if (!__get_cpuid_count(13, 2, &size, &upper_offset, &e, &f) || size != 256) return 0;
        const struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
        if (sigaction(SIGILL, &action, NULL) != 0) return 0;
        *a |= 1 << 4;
    }
    return 1;
}

#define __get_cpuid_count emulated_cpuid_count
#include "dispatch.c"

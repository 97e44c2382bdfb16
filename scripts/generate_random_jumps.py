#!/usr/bin/env python3
"""Writes include/millrace/rand/xorwow_jumps.h: jumps of the XORWOW generator.

The generator's 160 bits are stepped by a linear map A over GF(2), whose characteristic polynomial is found from its own
output (Berlekamp and Massey). A jump of n steps is the polynomial x^n modulo that: the sum of A^i over its terms. The table
has n = d * 16^j and n = d * 16^j * 2^67 (a subsequence) for the digits d = 1..15 of a 64-bit number.
"""
import pathlib

MASK = 0xFFFFFFFF
DEGREE = 160


def step(v):
    t = v[0] ^ (v[0] >> 2)
    return v[1:] + [(v[4] ^ (v[4] << 4) ^ t ^ (t << 1)) & MASK]


def characteristic():
    bits, v = [], [1, 2, 3, 4, 5]
    for _ in range(2 * DEGREE + 32):
        bits.append(v[4] & 1)
        v = step(v)
    c, b, length, m = 1, 1, 0, 1
    for n in range(len(bits)):
        off = 0
        for i in range(length + 1):
            off ^= (c >> i & 1) & bits[n - i]
        if not off:
            m += 1
        elif 2 * length <= n:
            c, b, length, m = c ^ (b << m), c, n + 1 - length, 1
        else:
            c ^= b << m
            m += 1
    assert length == DEGREE
    return sum(1 << (DEGREE - i) for i in range(DEGREE + 1) if c >> i & 1)


POLYNOMIAL = characteristic()


def multiply(a, b):
    r = 0
    while b:
        if b & 1:
            r ^= a
        b >>= 1
        a <<= 1
        if a >> DEGREE:
            a ^= POLYNOMIAL
    return r


def power(n):
    r, base = 1, 2
    while n:
        if n & 1:
            r = multiply(r, base)
        base = multiply(base, base)
        n >>= 1
    return r


def main():
    out = ["// Written by scripts/generate_random_jumps.py, which says what it is.", "#pragma once", "",
           "static __device__ const unsigned __mr_xorwow_jumps[2][16][15][5] = {"]
    for first in (0, 67):
        out.append("    {")
        for j in range(16):
            out.append("        {")
            for d in range(1, 16):
                p = power(d << (4 * j + first))
                words = ", ".join(f"0x{p >> 32 * k & MASK:08x}" for k in range(5))
                out.append(f"            {{{words}}},")
            out.append("        },")
        out.append("    },")
    out.append("};")
    path = pathlib.Path(__file__).resolve().parent.parent / "include/millrace/rand/xorwow_jumps.h"
    path.write_text("\n".join(out) + "\n")


main()

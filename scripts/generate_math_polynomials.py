#!/usr/bin/env python3
"""Writes include/millrace/device/math/polynomials.h: near-minimax polynomials of the device math library.

Each is the Chebyshev interpolant of a smooth function, computed with 60 digits, converted to powers and rounded to double;
the error that remains is printed to stderr. Needs mpmath.
"""
import sys
from mpmath import mp, mpf

mp.dps = 60


def chebyshev(f, lo, hi, degree):
    """Coefficients, in powers of x, of the interpolant of f at the Chebyshev nodes of [lo, hi]."""
    lo, hi = mpf(lo), mpf(hi)
    n = degree + 1
    nodes = [(lo + hi) / 2 + (hi - lo) / 2 * mp.cos(mp.pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    # Newton's divided differences, then expansion into powers.
    c = [f(x) for x in nodes]
    for j in range(1, n):
        for i in range(n - 1, j - 1, -1):
            c[i] = (c[i] - c[i - 1]) / (nodes[i] - nodes[i - j])
    poly = [mpf(0)]
    for i in range(n - 1, -1, -1):
        shifted = [mpf(0)] + poly
        poly = [a - nodes[i] * b for a, b in zip(shifted, poly + [mpf(0)])]
        poly[0] += c[i]
    return poly[:n]


def guard(f, at_zero):
    return lambda x: at_zero if abs(x) < mpf(10) ** -25 else f(x)


ENTRIES = []


def add(name, what, f, lo, hi, degree):
    ENTRIES.append((name, what, f, lo, hi, degree))


add("exp", "(exp(x) - 1 - x) / x^2", guard(lambda x: (mp.expm1(x) - x) / x**2, mpf(1) / 2), "-0.348", "0.348", 11)
add("exp_float", "(exp(x) - 1) / x, for float results", guard(lambda x: mp.expm1(x) / x, mpf(1)), "-0.348", "0.348", 7)
add("log", "(atanh(s) / s - 1 - z / 3) / z^2 of z = s^2",
    guard(lambda z: (mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 1 - z / 3) / z**2, mpf(1) / 5), "0", "0.0296", 7)
add("log_float", "(atanh(s) / s - 1) / z of z = s^2, for float results",
    guard(lambda z: (mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, mpf(1) / 3), "0", "0.0296", 4)
add("sin", "(sin(r) - r) / r^3 of z = r^2", guard(lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, -mpf(1) / 6),
    "0", "0.6169", 6)
add("cos", "(cos(r) - 1 + z / 2) / z^2 of z = r^2", guard(lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2, mpf(1) / 24),
    "0", "0.6169", 6)
add("sin_float", "(sin(r) - r) / r^3 of z = r^2, for float results",
    guard(lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, -mpf(1) / 6), "0", "0.6169", 4)
add("cos_float", "(cos(r) - 1) / z of z = r^2, for float results",
    guard(lambda z: (mp.cos(mp.sqrt(z)) - 1) / z, -mpf(1) / 2), "0", "0.6169", 4)
add("atan", "(atan(t) - t) / t^3 of z = t^2", guard(lambda z: (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, -mpf(1) / 3),
    "0", "0.1718", 12)
add("atan_float", "(atan(t) - t) / t^3 of z = t^2, for float results",
    guard(lambda z: (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, -mpf(1) / 3), "0", "0.1718", 7)
add("asin", "(asin(x) - x) / x^3 of z = x^2", guard(lambda z: (mp.asin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, mpf(1) / 6),
    "0", "0.2501", 13)
add("asin_float", "(asin(x) - x) / x^3 of z = x^2, for float results",
    guard(lambda z: (mp.asin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, mpf(1) / 6), "0", "0.2501", 7)
add("erf", "erf(x) / x - 2 / sqrt(pi) of z = x^2, divided by z",
    guard(lambda z: (mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 2 / mp.sqrt(mp.pi)) / z, -2 / mp.sqrt(mp.pi) / 3), "0", "1.0", 13)
add("erfcx", "(1 + 2 x) exp(x^2) erfc(x) of t = (x - 4) / (x + 4)",
    lambda t: (lambda x: (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x))(4 * (1 + t) / (1 - t)), "-1", "0.9999", 27)
add("gamma", "(gamma(2 + f) - 1) / f", guard(lambda f: (mp.gamma(2 + f) - 1) / f, 1 - mp.euler), "-0.5", "0.5", 20)
add("lgamma", "log(gamma(2 + f)) / f", guard(lambda f: mp.loggamma(2 + f) / f, 1 - mp.euler), "-0.75", "1", 28)
add("stirling", "x (log(gamma(x)) - (x - 1/2) log(x) + x - log(2 pi) / 2) of w = 1 / x^2",
    guard(lambda w: (lambda x: x * (mp.loggamma(x) - (x - mpf(1) / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2))(1 / mp.sqrt(w)),
          mpf(1) / 12), "0", "0.0101", 7)


def main():
    out = ["// Near-minimax polynomials, written by scripts/generate_math_polynomials.py: do not edit.",
           "#pragma once", "", '#include "base.h"', ""]
    for name, what, f, lo, hi, degree in ENTRIES:
        c = [float(v) for v in chebyshev(f, lo, hi, degree)]
        worst = mpf(0)
        for k in range(401):
            x = mpf(lo) + (mpf(hi) - mpf(lo)) * k / 400
            if k == 0 and name == "erfcx":
                x = mpf(lo) + mpf("1e-9")
            v = f(x)
            p = mpf(0)
            for a in reversed(c):
                p = p * x + mpf(a)
            worst = max(worst, abs(p - v) / abs(v))
        sys.stderr.write("%-12s degree %2d  relative error %s\n" % (name, degree, mp.nstr(worst, 3)))
        out.append("// %s, on [%s, %s]; relative error %s." % (what, lo, hi, mp.nstr(worst, 2)))
        out.append("__MR_MATH double __mr_poly_%s(double x) {" % name)
        out.append("  double p = %s;" % c[-1].hex())
        for a in reversed(c[:-1]):
            out.append("  p = __builtin_fma(p, x, %s);" % a.hex())
        out.append("  return p;")
        out.append("}")
        out.append("")
    # 2/pi in binary, for reduction of huge arguments.
    mp.dps = 450
    v = int(mp.floor(2 / mp.pi * mpf(2) ** (64 * 21)))
    words = [(v >> (64 * (20 - i))) & (2**64 - 1) for i in range(21)]
    out.append("// 2/pi in binary, most significant word first. Word i of the table.")
    out.append("__MR_MATH unsigned long __mr_two_over_pi(int i) {")
    out.append("  static const unsigned long table[21] = {")
    for i in range(0, 21, 4):
        out.append("      " + ", ".join("0x%016xul" % w for w in words[i:i + 4]) + ",")
    out.append("  };")
    out.append("  return table[i];")
    out.append("}")
    print("\n".join(out))


main()

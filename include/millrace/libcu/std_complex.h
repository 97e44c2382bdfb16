// cuda::std::complex: the standard library's, which clang's <complex> makes host and device code.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "std_cmath.h"
#include <complex>

namespace cuda {
namespace std {
using ::std::abs;
using ::std::acos;
using ::std::acosh;
using ::std::arg;
using ::std::asin;
using ::std::asinh;
using ::std::atan;
using ::std::atanh;
using ::std::complex;
using ::std::conj;
using ::std::cos;
using ::std::cosh;
using ::std::exp;
using ::std::imag;
using ::std::log;
using ::std::log10;
using ::std::norm;
using ::std::polar;
using ::std::pow;
using ::std::proj;
using ::std::real;
using ::std::sin;
using ::std::sinh;
using ::std::sqrt;
using ::std::tan;
using ::std::tanh;
}  // namespace std
}  // namespace cuda

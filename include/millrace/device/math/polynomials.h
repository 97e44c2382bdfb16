// Near-minimax polynomials, written by scripts/generate_math_polynomials.py: do not edit.
#pragma once

#include "base.h"

// (exp(x) - 1 - x) / x^2, on [-0.348, 0.348]; relative error 7.6e-18.
__MR_MATH double __mr_poly_exp(double x) {
  double p = 0x1.61c0ea49544a9p-33;
  p = __builtin_fma(p, x, 0x1.1f8053ac32dc8p-29);
  p = __builtin_fma(p, x, 0x1.ae642bd51d25dp-26);
  p = __builtin_fma(p, x, 0x1.27e4d376740f5p-22);
  p = __builtin_fma(p, x, 0x1.71de3a5ac8566p-19);
  p = __builtin_fma(p, x, 0x1.a01a01aa26b7ap-16);
  p = __builtin_fma(p, x, 0x1.a01a01a01965ep-13);
  p = __builtin_fma(p, x, 0x1.6c16c16c159d5p-10);
  p = __builtin_fma(p, x, 0x1.1111111111111p-7);
  p = __builtin_fma(p, x, 0x1.5555555555557p-5);
  p = __builtin_fma(p, x, 0x1.5555555555555p-3);
  p = __builtin_fma(p, x, 0x1.0000000000000p-1);
  return p;
}

// (exp(x) - 1) / x, for float results, on [-0.348, 0.348]; relative error 5.3e-12.
__MR_MATH double __mr_poly_exp_float(double x) {
  double p = 0x1.a1390a50b5106p-16;
  p = __builtin_fma(p, x, 0x1.a180e3ab3deafp-13);
  p = __builtin_fma(p, x, 0x1.6c166a7c66d74p-10);
  p = __builtin_fma(p, x, 0x1.1110a45c44bd6p-7);
  p = __builtin_fma(p, x, 0x1.555555662e67bp-5);
  p = __builtin_fma(p, x, 0x1.5555557f77e88p-3);
  p = __builtin_fma(p, x, 0x1.fffffffffdf5ap-2);
  p = __builtin_fma(p, x, 0x1.fffffffff5cb5p-1);
  return p;
}

// (atanh(s) / s - 1 - z / 3) / z^2 of z = s^2, on [0, 0.0296]; relative error 6.5e-17.
__MR_MATH double __mr_poly_log(double x) {
  double p = 0x1.e077188742e3cp-5;
  p = __builtin_fma(p, x, 0x1.df75d14baa685p-5);
  p = __builtin_fma(p, x, 0x1.1118e94969b8bp-4);
  p = __builtin_fma(p, x, 0x1.3b1395347c9e0p-4);
  p = __builtin_fma(p, x, 0x1.745d177c10ad9p-4);
  p = __builtin_fma(p, x, 0x1.c71c71c6e8f44p-4);
  p = __builtin_fma(p, x, 0x1.2492492492527p-3);
  p = __builtin_fma(p, x, 0x1.999999999999ap-3);
  return p;
}

// (atanh(s) / s - 1) / z of z = s^2, for float results, on [0, 0.0296]; relative error 1.1e-11.
__MR_MATH double __mr_poly_log_float(double x) {
  double p = 0x1.8cafc43b2cef4p-4;
  p = __builtin_fma(p, x, 0x1.c679026104935p-4);
  p = __builtin_fma(p, x, 0x1.2493279e4dc8ap-3);
  p = __builtin_fma(p, x, 0x1.999998c64d2a8p-3);
  p = __builtin_fma(p, x, 0x1.55555555655a6p-2);
  return p;
}

// (sin(r) - r) / r^3 of z = r^2, on [0, 0.6169]; relative error 5.7e-17.
__MR_MATH double __mr_poly_sin(double x) {
  double p = -0x1.ab17c21adf462p-41;
  p = __builtin_fma(p, x, 0x1.61217eed1c04ap-33);
  p = __builtin_fma(p, x, -0x1.ae6454129f078p-26);
  p = __builtin_fma(p, x, 0x1.71de3a54607fap-19);
  p = __builtin_fma(p, x, -0x1.a01a01a019937p-13);
  p = __builtin_fma(p, x, 0x1.1111111111110p-7);
  p = __builtin_fma(p, x, -0x1.5555555555555p-3);
  return p;
}

// (cos(r) - 1 + z / 2) / z^2 of z = r^2, on [0, 0.6169]; relative error 5.6e-17.
__MR_MATH double __mr_poly_cos(double x) {
  double p = 0x1.ab784b1122af7p-45;
  p = __builtin_fma(p, x, -0x1.9394b9f1ce104p-37);
  p = __builtin_fma(p, x, 0x1.1eed8deb869afp-29);
  p = __builtin_fma(p, x, -0x1.27e4fb7712cc8p-22);
  p = __builtin_fma(p, x, 0x1.a01a01a019d0ap-16);
  p = __builtin_fma(p, x, -0x1.6c16c16c16c16p-10);
  p = __builtin_fma(p, x, 0x1.5555555555555p-5);
  return p;
}

// (sin(r) - r) / r^3 of z = r^2, for float results, on [0, 0.6169]; relative error 1.7e-13.
__MR_MATH double __mr_poly_sin_float(double x) {
  double p = -0x1.aa2841454c81fp-26;
  p = __builtin_fma(p, x, 0x1.71d9a9c409c48p-19);
  p = __builtin_fma(p, x, -0x1.a019fd9af6604p-13);
  p = __builtin_fma(p, x, 0x1.1111110fd3ba1p-7);
  p = __builtin_fma(p, x, -0x1.555555555516bp-3);
  return p;
}

// (cos(r) - 1) / z of z = r^2, for float results, on [0, 0.6169]; relative error 7.6e-13.
__MR_MATH double __mr_poly_cos_float(double x) {
  double p = -0x1.2474cf998e6dap-22;
  p = __builtin_fma(p, x, 0x1.a012988a65212p-16);
  p = __builtin_fma(p, x, -0x1.6c16bae5884c4p-10);
  p = __builtin_fma(p, x, 0x1.555555514f227p-5);
  p = __builtin_fma(p, x, -0x1.fffffffffe695p-2);
  return p;
}

// (atan(t) - t) / t^3 of z = t^2, on [0, 0.1718]; relative error 6.9e-17.
__MR_MATH double __mr_poly_atan(double x) {
  double p = -0x1.c783d876fa1c9p-7;
  p = __builtin_fma(p, x, 0x1.f5a8e4fc8e863p-6);
  p = __builtin_fma(p, x, -0x1.502d080f95e3ap-5);
  p = __builtin_fma(p, x, 0x1.82991d6782417p-5);
  p = __builtin_fma(p, x, -0x1.aebc88531e24ap-5);
  p = __builtin_fma(p, x, 0x1.e1d8da2013f5bp-5);
  p = __builtin_fma(p, x, -0x1.1110ce5ea3850p-4);
  p = __builtin_fma(p, x, 0x1.3b13aea3b5eeep-4);
  p = __builtin_fma(p, x, -0x1.745d173537df1p-4);
  p = __builtin_fma(p, x, 0x1.c71c71c6dcfdep-4);
  p = __builtin_fma(p, x, -0x1.24924924920a0p-3);
  p = __builtin_fma(p, x, 0x1.9999999999997p-3);
  p = __builtin_fma(p, x, -0x1.5555555555555p-2);
  return p;
}

// (atan(t) - t) / t^3 of z = t^2, for float results, on [0, 0.1718]; relative error 2.0e-12.
__MR_MATH double __mr_poly_atan_float(double x) {
  double p = 0x1.0dc956fa45674p-5;
  p = __builtin_fma(p, x, -0x1.eda5c8b52ab87p-5);
  p = __builtin_fma(p, x, 0x1.377b0bc112022p-4);
  p = __builtin_fma(p, x, -0x1.741561e7d029dp-4);
  p = __builtin_fma(p, x, 0x1.c7195ef0192d3p-4);
  p = __builtin_fma(p, x, -0x1.249240cb5f96bp-3);
  p = __builtin_fma(p, x, 0x1.9999998839001p-3);
  p = __builtin_fma(p, x, -0x1.55555555525a0p-2);
  return p;
}

// (asin(x) - x) / x^3 of z = x^2, on [0, 0.2501]; relative error 5.6e-17.
__MR_MATH double __mr_poly_asin(double x) {
  double p = 0x1.e58a4f278e007p-6;
  p = __builtin_fma(p, x, -0x1.3bd7e353ddbc2p-6);
  p = __builtin_fma(p, x, 0x1.40c91fa8deb7ep-6);
  p = __builtin_fma(p, x, 0x1.8dcdf11997e0fp-9);
  p = __builtin_fma(p, x, 0x1.31777489dfd29p-7);
  p = __builtin_fma(p, x, 0x1.3b462d121c5d2p-7);
  p = __builtin_fma(p, x, 0x1.7b02ef007d23ep-7);
  p = __builtin_fma(p, x, 0x1.c990a42b32b03p-7);
  p = __builtin_fma(p, x, 0x1.1c4efd20ebb99p-6);
  p = __builtin_fma(p, x, 0x1.6e8ba121b9d5fp-6);
  p = __builtin_fma(p, x, 0x1.f1c71c7a5e151p-6);
  p = __builtin_fma(p, x, 0x1.6db6db6dac0eap-5);
  p = __builtin_fma(p, x, 0x1.3333333333389p-4);
  p = __builtin_fma(p, x, 0x1.5555555555555p-3);
  return p;
}

// (asin(x) - x) / x^3 of z = x^2, for float results, on [0, 0.2501]; relative error 8.0e-11.
__MR_MATH double __mr_poly_asin_float(double x) {
  double p = 0x1.e055c6ab71d4cp-6;
  p = __builtin_fma(p, x, 0x1.64157dc57bfb9p-8);
  p = __builtin_fma(p, x, 0x1.3c5d44991a0f2p-6);
  p = __builtin_fma(p, x, 0x1.6a9c2ffd8a6d0p-6);
  p = __builtin_fma(p, x, 0x1.f20913ba8d370p-6);
  p = __builtin_fma(p, x, 0x1.6db5cef583cefp-5);
  p = __builtin_fma(p, x, 0x1.333334d009e10p-4);
  p = __builtin_fma(p, x, 0x1.55555554ede81p-3);
  return p;
}

// erf(x) / x - 2 / sqrt(pi) of z = x^2, divided by z, on [0, 1.0]; relative error 3.6e-17.
__MR_MATH double __mr_poly_erf(double x) {
  double p = 0x1.460f780e4729dp-42;
  p = __builtin_fma(p, x, -0x1.b860b63a1e77bp-38);
  p = __builtin_fma(p, x, 0x1.9ae3b3eb19e99p-34);
  p = __builtin_fma(p, x, -0x1.5194ba2baa2c6p-30);
  p = __builtin_fma(p, x, 0x1.fcbeb1bfbdc46p-27);
  p = __builtin_fma(p, x, -0x1.5f73f0d025fe0p-23);
  p = __builtin_fma(p, x, 0x1.b9e6c6b93df0ep-20);
  p = __builtin_fma(p, x, -0x1.f4d25c21a7ae1p-17);
  p = __builtin_fma(p, x, 0x1.f9a326f909fcap-14);
  p = __builtin_fma(p, x, -0x1.c02db4003dfffp-11);
  p = __builtin_fma(p, x, 0x1.565bcd0e6a4d7p-8);
  p = __builtin_fma(p, x, -0x1.b82ce31288b50p-6);
  p = __builtin_fma(p, x, 0x1.ce2f21a042be2p-4);
  p = __builtin_fma(p, x, -0x1.812746b0379e7p-2);
  return p;
}

// (1 + 2 x) exp(x^2) erfc(x) of t = (x - 4) / (x + 4), on [-1, 0.9999]; relative error 4.6e-17.
__MR_MATH double __mr_poly_erfcx(double x) {
  double p = 0x1.9f6e52751f12ep-36;
  p = __builtin_fma(p, x, 0x1.6f5b01bc59f50p-35);
  p = __builtin_fma(p, x, -0x1.4669fa438d7efp-32);
  p = __builtin_fma(p, x, -0x1.277339a95ab17p-31);
  p = __builtin_fma(p, x, 0x1.37ca964e69268p-29);
  p = __builtin_fma(p, x, 0x1.0f71b0e775c14p-28);
  p = __builtin_fma(p, x, -0x1.0b2504f54d6e2p-26);
  p = __builtin_fma(p, x, -0x1.77ac3b325bb29p-26);
  p = __builtin_fma(p, x, 0x1.dcfbe8f1ea16bp-24);
  p = __builtin_fma(p, x, 0x1.52c9b76c15cd7p-24);
  p = __builtin_fma(p, x, -0x1.bb4696eba05a9p-21);
  p = __builtin_fma(p, x, 0x1.386695ff139cfp-22);
  p = __builtin_fma(p, x, 0x1.7f2a539197cd8p-18);
  p = __builtin_fma(p, x, -0x1.7881b55ecf87ep-17);
  p = __builtin_fma(p, x, -0x1.9959512ba8e81p-16);
  p = __builtin_fma(p, x, 0x1.3be033cd74071p-13);
  p = __builtin_fma(p, x, -0x1.a1df256912d2cp-13);
  p = __builtin_fma(p, x, -0x1.8d4a999e81da9p-11);
  p = __builtin_fma(p, x, 0x1.49c6728654c55p-8);
  p = __builtin_fma(p, x, -0x1.0962388538a31p-6);
  p = __builtin_fma(p, x, 0x1.3079edf68212bp-5);
  p = __builtin_fma(p, x, -0x1.0fb06dfe490c0p-4);
  p = __builtin_fma(p, x, 0x1.7fee004e1257ap-4);
  p = __builtin_fma(p, x, -0x1.9ddb23c3e90c3p-4);
  p = __builtin_fma(p, x, 0x1.16ecefcfa5395p-4);
  p = __builtin_fma(p, x, 0x1.f7f5df66fd7b4p-7);
  p = __builtin_fma(p, x, -0x1.1df1ad154a28ep-3);
  p = __builtin_fma(p, x, 0x1.3ba5916e9fd7fp+0);
  return p;
}

// (gamma(2 + f) - 1) / f, on [-0.5, 0.5]; relative error 3.2e-17.
__MR_MATH double __mr_poly_gamma(double x) {
  double p = -0x1.66398dddb91b6p-22;
  p = __builtin_fma(p, x, 0x1.66347dc368c10p-21);
  p = __builtin_fma(p, x, -0x1.e143fcee29c70p-21);
  p = __builtin_fma(p, x, 0x1.e130adde2ad08p-20);
  p = __builtin_fma(p, x, -0x1.0111063afe1eep-18);
  p = __builtin_fma(p, x, 0x1.00fc0c22a86f6p-17);
  p = __builtin_fma(p, x, -0x1.ff13ebd53de19p-17);
  p = __builtin_fma(p, x, 0x1.fecdd9c5d5b0bp-16);
  p = __builtin_fma(p, x, -0x1.fdf8b36b61675p-15);
  p = __builtin_fma(p, x, 0x1.fe57373dd0895p-14);
  p = __builtin_fma(p, x, -0x1.f94a6e0decd32p-13);
  p = __builtin_fma(p, x, 0x1.011ad0809b87dp-11);
  p = __builtin_fma(p, x, -0x1.e21f1c91157d2p-11);
  p = __builtin_fma(p, x, 0x1.13c449cf50cb3p-9);
  p = __builtin_fma(p, x, -0x1.75e6e9047c3c6p-9);
  p = __builtin_fma(p, x, 0x1.6d7eeac9deecdp-7);
  p = __builtin_fma(p, x, -0x1.17f3740fe4c16p-12);
  p = __builtin_fma(p, x, 0x1.301fbb0f25ad6p-4);
  p = __builtin_fma(p, x, 0x1.4e239984650acp-4);
  p = __builtin_fma(p, x, 0x1.a5b978b96bebfp-2);
  p = __builtin_fma(p, x, 0x1.b0ee6072093cep-2);
  return p;
}

// log(gamma(2 + f)) / f, on [-0.75, 1]; relative error 7.5e-17.
__MR_MATH double __mr_poly_lgamma(double x) {
  double p = -0x1.60e595f7dda97p-35;
  p = __builtin_fma(p, x, 0x1.f66835d8b74c1p-33);
  p = __builtin_fma(p, x, -0x1.158f0e07db9bdp-31);
  p = __builtin_fma(p, x, 0x1.3f954f03b04f4p-31);
  p = __builtin_fma(p, x, -0x1.aa06e57892083p-31);
  p = __builtin_fma(p, x, 0x1.31f241009c438p-29);
  p = __builtin_fma(p, x, -0x1.7d6d8dcbe6defp-28);
  p = __builtin_fma(p, x, 0x1.819582626e1d5p-27);
  p = __builtin_fma(p, x, -0x1.8337301576a99p-26);
  p = __builtin_fma(p, x, 0x1.972d7de6d558ap-25);
  p = __builtin_fma(p, x, -0x1.af7e1e6c9f607p-24);
  p = __builtin_fma(p, x, 0x1.c7bade80a08a5p-23);
  p = __builtin_fma(p, x, -0x1.e26275139d09cp-22);
  p = __builtin_fma(p, x, 0x1.00619874c0973p-20);
  p = __builtin_fma(p, x, -0x1.11b2aa6c5b026p-19);
  p = __builtin_fma(p, x, 0x1.2597d0f53ba1ap-18);
  p = __builtin_fma(p, x, -0x1.3cbc9b1d7b537p-17);
  p = __builtin_fma(p, x, 0x1.580dcd34db72dp-16);
  p = __builtin_fma(p, x, -0x1.78de5ba2f11b1p-15);
  p = __builtin_fma(p, x, 0x1.a127b0fc2ac28p-14);
  p = __builtin_fma(p, x, -0x1.d3fd4c7827155p-13);
  p = __builtin_fma(p, x, 0x1.0b36af862462cp-11);
  p = __builtin_fma(p, x, -0x1.38ac5c2bf6708p-10);
  p = __builtin_fma(p, x, 0x1.7add6eadb6f22p-9);
  p = __builtin_fma(p, x, -0x1.e404fc218f63ap-8);
  p = __builtin_fma(p, x, 0x1.51322ac7d8482p-6);
  p = __builtin_fma(p, x, -0x1.13e001a557606p-4);
  p = __builtin_fma(p, x, 0x1.4a34cc4a60fa6p-2);
  p = __builtin_fma(p, x, 0x1.b0ee6072093cep-2);
  return p;
}

// x (log(gamma(x)) - (x - 1/2) log(x) + x - log(2 pi) / 2) of w = 1 / x^2, on [0, 0.0101]; relative error 5.6e-17.
__MR_MATH double __mr_poly_stirling(double x) {
  double p = -0x1.8003f37c6b590p-6;
  p = __builtin_fma(p, x, 0x1.9de6805b89f6fp-8);
  p = __builtin_fma(p, x, -0x1.f676480bf1c19p-10);
  p = __builtin_fma(p, x, 0x1.b95164c90e394p-11);
  p = __builtin_fma(p, x, -0x1.381380e5fe9d7p-11);
  p = __builtin_fma(p, x, 0x1.a01a019fffa0ap-11);
  p = __builtin_fma(p, x, -0x1.6c16c16c16c0ap-9);
  p = __builtin_fma(p, x, 0x1.5555555555555p-4);
  return p;
}

// 2/pi in binary, most significant word first. Word i of the table.
__MR_MATH unsigned long __mr_two_over_pi(int i) {
  static const unsigned long table[21] = {
      0xa2f9836e4e441529ul, 0xfc2757d1f534ddc0ul, 0xdb6295993c439041ul, 0xfe5163abdebbc561ul, 0xb7246e3a424dd2e0ul,
      0x06492eea09d1921cul, 0xfe1deb1cb129a73eul, 0xe88235f52ebb4484ul, 0xe99c7026b45f7e41ul, 0x3991d639835339f4ul,
      0x9c845f8bbdf9283bul, 0x1ff897ffde05980ful, 0xef2f118b5a0a6d1ful, 0x6d367ecf27cb09b7ul, 0x4f463f669e5fea2dul,
      0x7527bac7ebe5f17bul, 0x3d0739f78a5292eaul, 0x6bfb5fb11f8d5d08ul, 0x56033046fc7b6babul, 0xf0cfbc209af4361dul,
      0xa9e391615ee61b08ul,
  };
  return table[i];
}

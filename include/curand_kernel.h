// Random numbers in device code: cuRAND's generators XORWOW, Philox4x32-10 and MRG32k3a with its distributions. Seeds,
// subsequences and offsets give the numbers that they give on a GPU (tests/programs/device_random.cu). Not there:
// Sobol' and Mersenne Twister generators, discrete distributions, the library's host functions.
#pragma once
#define CURAND_KERNEL_H_

#include "cuda_runtime.h"
#include "curand.h"
#include "millrace/rand/mrg32k3a.h"
#include "millrace/rand/philox.h"
#include "millrace/rand/xorwow.h"

#include "millrace/rand/distributions.h"
#include "millrace/rand/poisson.h"

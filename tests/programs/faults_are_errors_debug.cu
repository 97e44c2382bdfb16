// The same without optimisation and with debug information: another way through the compiler.
// nvcc-flags: -O0 -g -G
#include "faults_are_errors.cu"

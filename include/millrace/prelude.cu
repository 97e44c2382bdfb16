// What mrcc precompiles (and includes in front of every .cu file otherwise); see device_prelude.h.
#include <millrace/device_prelude.h>

#include <cuda_runtime.h>

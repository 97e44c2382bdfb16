// cudaGetErrorName and cudaGetErrorString of device code: the host's texts, in the image, where device code may read.
#include <cstdint>

#include <api/error_table.h>

#include "driver_types.h"

extern "C" {
const char* __mr_error_name(int error) {
  switch (error) {
#define MR_NAME(name, sentence)                                                                                        \
  case cuda##name: return "cuda" #name;
    MR_ERRORS(MR_NAME)
#undef MR_NAME
  }
  return "unrecognized error code";
}

const char* __mr_error_string(int error) {
  switch (error) {
#define MR_SENTENCE(name, sentence)                                                                                    \
  case cuda##name: return sentence;
    MR_ERRORS(MR_SENTENCE)
#undef MR_SENTENCE
  }
  return "unrecognized error code";
}
}

// The error slot, names and sentences (runtime/api/error.cpp).
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <thread>

#include <api/error_table.h>

namespace {

TEST(ErrorSlot, KeepsTheNewestFailureUntilItIsTaken) {
  (void)cudaGetLastError();
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaRuntimeGetVersion(nullptr), cudaErrorInvalidValue);
  int version = 0;
  EXPECT_EQ(cudaRuntimeGetVersion(&version), cudaSuccess);  // a success leaves it alone
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(ErrorSlot, BelongsToTheThread) {
  (void)cudaGetLastError();
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  cudaError_t there = cudaErrorUnknown;
  std::thread([&] { there = cudaPeekAtLastError(); }).join();
  EXPECT_EQ(there, cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

TEST(ErrorSlot, UnsupportedCallsSaySo) {
  (void)cudaGetLastError();
  EXPECT_EQ(cudaDeviceGetNvSciSyncAttributes(nullptr, 0, 0), cudaErrorNotSupported);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

TEST(ErrorNames, EveryCodeHasANameAndASentenceOfItsOwn) {
  std::set<std::string> names, sentences;
  int count = 0;
#define CHECK_ERROR(name, sentence)                                                                                    \
  ++count;                                                                                                             \
  EXPECT_STREQ(cudaGetErrorName(cuda##name), "cuda" #name);                                                            \
  EXPECT_STREQ(cudaGetErrorString(cuda##name), sentence);                                                              \
  names.insert(cudaGetErrorName(cuda##name));                                                                          \
  sentences.insert(cudaGetErrorString(cuda##name));
  MR_ERRORS(CHECK_ERROR)
#undef CHECK_ERROR
  EXPECT_EQ(names.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(sentences.size(), static_cast<std::size_t>(count));
}

TEST(ErrorNames, OtherNumbersAreUnrecognized) {
  for (int code : {10, 601, 998, 10001, -1}) {
    cudaError_t error;
    std::memcpy(&error, &code, sizeof error);
    EXPECT_STREQ(cudaGetErrorName(error), "unrecognized error code");
    EXPECT_STREQ(cudaGetErrorString(error), "unrecognized error code");
  }
}

}  // namespace

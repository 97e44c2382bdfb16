// Whether a test is built with a sanitizer: g++ says so with macros, clang with __has_feature.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define MR_TEST_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define MR_TEST_TSAN 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MR_TEST_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define MR_TEST_TSAN 1
#endif
#endif
#if defined(MR_TEST_ASAN) || defined(MR_TEST_TSAN)
#define MR_TEST_SANITIZED 1
#endif

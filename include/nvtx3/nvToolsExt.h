// Annotations for profilers (NVTX, version 3): names, types and return values of a program that no tool has attached
// to, which is what every function then gives. While a trace is written (`millrace timeline`) ranges go there, of
// programs that are linked with the runtime. C and C++; thread-safe.
#ifndef MILLRACE_NVTX3_H
#define MILLRACE_NVTX3_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_VERSION 3
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)
#define NVTX_SUCCESS 0
#define NVTX_FAIL 1

#if defined(__GNUC__)
#define __MR_NVTX static __inline__ __attribute__((unused))
#else
#define __MR_NVTX static inline
#endif

#if defined(__cplusplus)
extern "C" {
#endif

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxPayloadType_t {
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
  NVTX_PAYLOAD_TYPE_INT32 = 5,
  NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;
typedef enum nvtxMessageType_t {
  NVTX_MESSAGE_UNKNOWN = 0,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE = 2,
  NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st* nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st* nvtxStringHandle_t;
typedef struct nvtxResourceHandle* nvtxResourceHandle_t;

typedef union nvtxMessageValue_t {
  const char* ascii;
  const wchar_t* unicode;
  nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct nvtxEventAttributes_v2 {
  uint16_t version, size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType, reserved0;
  union payload_t {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
    uint32_t uiValue;
    int32_t iValue;
    float fValue;
  } payload;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxEventAttributes_t;

#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

// The runtime's, absent where a program isn't linked with it. `wide`: the text is wchar_t's.
extern int __mr_nvtx_push(const void* text, int wide) __attribute__((weak));
extern int __mr_nvtx_pop(void) __attribute__((weak));
extern uint64_t __mr_nvtx_start(const void* text, int wide) __attribute__((weak));
extern void __mr_nvtx_end(uint64_t id) __attribute__((weak));
extern void __mr_nvtx_mark(const void* text, int wide) __attribute__((weak));
extern const char* __mr_nvtx_string(const void* text, int wide) __attribute__((weak));

__MR_NVTX int __mr_nvtx_push_any(const void* text, int wide) {
  return __mr_nvtx_push ? __mr_nvtx_push(text, wide) : NVTX_NO_PUSH_POP_TRACKING;
}
__MR_NVTX int __mr_nvtx_pop_any(void) { return __mr_nvtx_pop ? __mr_nvtx_pop() : NVTX_NO_PUSH_POP_TRACKING; }
__MR_NVTX nvtxRangeId_t __mr_nvtx_start_any(const void* text, int wide) {
  return __mr_nvtx_start ? __mr_nvtx_start(text, wide) : (nvtxRangeId_t)0;
}
__MR_NVTX void __mr_nvtx_end_any(nvtxRangeId_t id) {
  if (__mr_nvtx_end) __mr_nvtx_end(id);
}
__MR_NVTX void __mr_nvtx_mark_any(const void* text, int wide) {
  if (__mr_nvtx_mark) __mr_nvtx_mark(text, wide);
}
__MR_NVTX nvtxStringHandle_t __mr_nvtx_register(const void* text, int wide) {
  return (nvtxStringHandle_t)(__mr_nvtx_string ? __mr_nvtx_string(text, wide) : 0);
}
// A registered string's handle is its text.
__MR_NVTX const void* __mr_nvtx_text(const nvtxEventAttributes_t* event, int* wide) {
  *wide = event && event->messageType == NVTX_MESSAGE_TYPE_UNICODE;
  if (!event || event->messageType == NVTX_MESSAGE_UNKNOWN) return 0;
  return *wide ? (const void*)event->message.unicode
               : (event->messageType == NVTX_MESSAGE_TYPE_REGISTERED ? (const void*)event->message.registered
                                                                     : (const void*)event->message.ascii);
}

__MR_NVTX void nvtxInitialize(const void* reserved) { (void)reserved; }
__MR_NVTX nvtxDomainHandle_t nvtxDomainCreateA(const char* name) { return (void)name, (nvtxDomainHandle_t)0; }
__MR_NVTX nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t* name) { return (void)name, (nvtxDomainHandle_t)0; }
__MR_NVTX void nvtxDomainDestroy(nvtxDomainHandle_t domain) { (void)domain; }
__MR_NVTX nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t domain, const char* string) {
  return (void)domain, __mr_nvtx_register(string, 0);
}
__MR_NVTX nvtxStringHandle_t nvtxDomainRegisterStringW(nvtxDomainHandle_t domain, const wchar_t* string) {
  return (void)domain, __mr_nvtx_register(string, 1);
}
__MR_NVTX void nvtxDomainNameCategoryA(nvtxDomainHandle_t domain, uint32_t category, const char* name) {
  (void)domain, (void)category, (void)name;
}
__MR_NVTX void nvtxNameCategoryA(uint32_t category, const char* name) { (void)category, (void)name; }
__MR_NVTX void nvtxNameCategoryW(uint32_t category, const wchar_t* name) { (void)category, (void)name; }
__MR_NVTX void nvtxNameOsThreadA(uint32_t thread, const char* name) { (void)thread, (void)name; }
__MR_NVTX void nvtxNameOsThreadW(uint32_t thread, const wchar_t* name) { (void)thread, (void)name; }

__MR_NVTX void nvtxMarkA(const char* message) { __mr_nvtx_mark_any(message, 0); }
__MR_NVTX void nvtxMarkW(const wchar_t* message) { __mr_nvtx_mark_any(message, 1); }
__MR_NVTX void nvtxMarkEx(const nvtxEventAttributes_t* event) {
  int wide;
  const void* text = __mr_nvtx_text(event, &wide);
  __mr_nvtx_mark_any(text, wide);
}
__MR_NVTX void nvtxDomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  (void)domain;
  nvtxMarkEx(event);
}

__MR_NVTX int nvtxRangePushA(const char* message) { return __mr_nvtx_push_any(message, 0); }
__MR_NVTX int nvtxRangePushW(const wchar_t* message) { return __mr_nvtx_push_any(message, 1); }
__MR_NVTX int nvtxRangePushEx(const nvtxEventAttributes_t* event) {
  int wide;
  const void* text = __mr_nvtx_text(event, &wide);
  return __mr_nvtx_push_any(text, wide);
}
__MR_NVTX int nvtxRangePop(void) { return __mr_nvtx_pop_any(); }
__MR_NVTX int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return (void)domain, nvtxRangePushEx(event);
}
__MR_NVTX int nvtxDomainRangePop(nvtxDomainHandle_t domain) { return (void)domain, __mr_nvtx_pop_any(); }

__MR_NVTX nvtxRangeId_t nvtxRangeStartA(const char* message) { return __mr_nvtx_start_any(message, 0); }
__MR_NVTX nvtxRangeId_t nvtxRangeStartW(const wchar_t* message) { return __mr_nvtx_start_any(message, 1); }
__MR_NVTX nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t* event) {
  int wide;
  const void* text = __mr_nvtx_text(event, &wide);
  return __mr_nvtx_start_any(text, wide);
}
__MR_NVTX void nvtxRangeEnd(nvtxRangeId_t id) { __mr_nvtx_end_any(id); }
__MR_NVTX nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return (void)domain, nvtxRangeStartEx(event);
}
__MR_NVTX void nvtxDomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  (void)domain;
  __mr_nvtx_end_any(id);
}

#if defined(__cplusplus)
}
#endif

#if defined(UNICODE)
#define nvtxDomainCreate nvtxDomainCreateW
#define nvtxDomainRegisterString nvtxDomainRegisterStringW
#define nvtxMark nvtxMarkW
#define nvtxNameCategory nvtxNameCategoryW
#define nvtxNameOsThread nvtxNameOsThreadW
#define nvtxRangePush nvtxRangePushW
#define nvtxRangeStart nvtxRangeStartW
#else
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
#define nvtxMark nvtxMarkA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#endif

#undef __MR_NVTX
#endif

// Annotations for profilers (NVTX, version 3): names, types and return values of a program that no tool has attached
// to, which is what every function then gives. C and C++; thread-safe.
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

__MR_NVTX void nvtxInitialize(const void* reserved) { (void)reserved; }
__MR_NVTX nvtxDomainHandle_t nvtxDomainCreateA(const char* name) { return (void)name, (nvtxDomainHandle_t)0; }
__MR_NVTX nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t* name) { return (void)name, (nvtxDomainHandle_t)0; }
__MR_NVTX void nvtxDomainDestroy(nvtxDomainHandle_t domain) { (void)domain; }
__MR_NVTX nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t domain, const char* string) {
  return (void)domain, (void)string, (nvtxStringHandle_t)0;
}
__MR_NVTX nvtxStringHandle_t nvtxDomainRegisterStringW(nvtxDomainHandle_t domain, const wchar_t* string) {
  return (void)domain, (void)string, (nvtxStringHandle_t)0;
}
__MR_NVTX void nvtxDomainNameCategoryA(nvtxDomainHandle_t domain, uint32_t category, const char* name) {
  (void)domain, (void)category, (void)name;
}
__MR_NVTX void nvtxNameCategoryA(uint32_t category, const char* name) { (void)category, (void)name; }
__MR_NVTX void nvtxNameCategoryW(uint32_t category, const wchar_t* name) { (void)category, (void)name; }
__MR_NVTX void nvtxNameOsThreadA(uint32_t thread, const char* name) { (void)thread, (void)name; }
__MR_NVTX void nvtxNameOsThreadW(uint32_t thread, const wchar_t* name) { (void)thread, (void)name; }

__MR_NVTX void nvtxMarkA(const char* message) { (void)message; }
__MR_NVTX void nvtxMarkW(const wchar_t* message) { (void)message; }
__MR_NVTX void nvtxMarkEx(const nvtxEventAttributes_t* event) { (void)event; }
__MR_NVTX void nvtxDomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  (void)domain, (void)event;
}

__MR_NVTX int nvtxRangePushA(const char* message) { return (void)message, NVTX_NO_PUSH_POP_TRACKING; }
__MR_NVTX int nvtxRangePushW(const wchar_t* message) { return (void)message, NVTX_NO_PUSH_POP_TRACKING; }
__MR_NVTX int nvtxRangePushEx(const nvtxEventAttributes_t* event) { return (void)event, NVTX_NO_PUSH_POP_TRACKING; }
__MR_NVTX int nvtxRangePop(void) { return NVTX_NO_PUSH_POP_TRACKING; }
__MR_NVTX int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return (void)domain, (void)event, NVTX_NO_PUSH_POP_TRACKING;
}
__MR_NVTX int nvtxDomainRangePop(nvtxDomainHandle_t domain) { return (void)domain, NVTX_NO_PUSH_POP_TRACKING; }

__MR_NVTX nvtxRangeId_t nvtxRangeStartA(const char* message) { return (void)message, (nvtxRangeId_t)0; }
__MR_NVTX nvtxRangeId_t nvtxRangeStartW(const wchar_t* message) { return (void)message, (nvtxRangeId_t)0; }
__MR_NVTX nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t* event) { return (void)event, (nvtxRangeId_t)0; }
__MR_NVTX void nvtxRangeEnd(nvtxRangeId_t id) { (void)id; }
__MR_NVTX nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return (void)domain, (void)event, (nvtxRangeId_t)0;
}
__MR_NVTX void nvtxDomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id) { (void)domain, (void)id; }

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

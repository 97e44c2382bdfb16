// Rules of CUDA arrays, textures and surfaces: sizes and formats, copies, address modes, filtering with eight
// fractional bits, normalized reads, linear and pitched memory, gathers, mipmaps, surfaces.
#include <cstdio>
#include <cstring>
#include <vector>

#include "check.h"

__global__ void k2(cudaTextureObject_t t, float x, float y, float* out) { *out = tex2D<float>(t, x, y); }
__global__ void ks(cudaSurfaceObject_t s, int x, int y, float v) { surf2Dwrite(v, s, x * 4, y); }
__global__ void kg(cudaTextureObject_t t, float x, float y, float4* out) { *out = tex2Dgather<float4>(t, x, y, 0); }
__global__ void kl(cudaTextureObject_t t, float x, float y, float lod, float* out) {
  *out = tex2DLod<float>(t, x, y, lod);
}
__global__ void k3(cudaTextureObject_t t, float x, float y, float z, float* out) { *out = tex3D<float>(t, x, y, z); }
__global__ void kf(cudaTextureObject_t t, int x, float* out) { *out = tex1Dfetch<float>(t, x); }
__global__ void ku(cudaTextureObject_t t, float x, float* out) { *out = tex1D<float>(t, x); }
static float* out;
static float h() {
  float v;
  cudaMemcpy(&v, out, 4, cudaMemcpyDeviceToHost);
  return v;
}
int main() {
  OK(cudaMalloc(&out, 64));
  cudaChannelFormatDesc f = cudaCreateChannelDesc<float>(), u8 = cudaCreateChannelDesc<uchar4>(), got;
  CHECK(f.x == 32 && f.y == 0 && f.f == cudaChannelFormatKindFloat && u8.w == 8 &&
        u8.f == cudaChannelFormatKindUnsigned);
  cudaArray_t a, b;
  cudaExtent ext;
  unsigned fl;
  OK(cudaMallocArray(&a, &f, 4, 3));
  OK(cudaArrayGetInfo(&got, &ext, &fl, a));
  CHECK(got.x == 32 && ext.width == 4 && ext.height == 3 && ext.depth == 0 && fl == 0);
  OK(cudaGetChannelDesc(&got, a));
  CHECK(got.f == cudaChannelFormatKindFloat);
  EXPECT(cudaMallocArray(nullptr, &f, 4, 3), cudaErrorInvalidValue);
  EXPECT(cudaMallocArray(&b, nullptr, 4, 3), cudaErrorInvalidValue);
  EXPECT(cudaMallocArray(&b, &f, 1 << 20, 3), cudaErrorInvalidValue);
  cudaChannelFormatDesc badf = {7, 0, 0, 0, cudaChannelFormatKindFloat};
  EXPECT(cudaMallocArray(&b, &badf, 4, 3), cudaErrorInvalidChannelDescriptor);
  float v[12];
  for (int i = 0; i < 12; ++i) v[i] = i * i;
  OK(cudaMemcpy2DToArray(a, 0, 0, v, 16, 16, 3, cudaMemcpyHostToDevice));
  EXPECT(cudaMemcpy2DToArray(a, 0, 0, v, 20, 20, 3, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT(cudaMemcpy2DToArray(a, 0, 1, v, 16, 16, 3, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT(cudaMemcpy2DToArray(a, 0, 0, v, 8, 16, 3, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  float w[12] = {};
  OK(cudaMemcpy2DFromArray(w, 16, a, 0, 0, 16, 3, cudaMemcpyDeviceToHost));
  CHECK(memcmp(v, w, 48) == 0);
  OK(cudaMemcpyFromArray(w, a, 4, 1, 8, cudaMemcpyDeviceToHost));
  CHECK(w[0] == 25 && w[1] == 36);
  OK(cudaMemcpyToArray(a, 0, 0, v, 48, cudaMemcpyHostToDevice));
  OK(cudaMallocArray(&b, &f, 4, 3));
  OK(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 16, 3, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpyArrayToArray(b, 0, 0, a, 4, 0, 8, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpyFromArray(w, b, 0, 0, 48, cudaMemcpyDeviceToHost));
  CHECK(w[0] == 1 && w[1] == 4 && w[2] == 4 && w[11] == 121);
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  cudaTextureDesc t = {};
  cudaTextureObject_t x;
  t.addressMode[0] = t.addressMode[1] = cudaAddressModeClamp;
  t.filterMode = cudaFilterModeLinear;
  OK(cudaCreateTextureObject(&x, &r, &t, nullptr));
  k2<<<1, 1>>>(x, 1.0f, 0.5f, out);
  CHECK(h() == 0.5f);
  k2<<<1, 1>>>(x, 0.6f, 0.5f, out);
  {
    float fr = 0.1f;
    int q = (int)(fr * 256 + 0.5f);
    float want = (float)q / 256;
    CHECK(h() == want || (printf("lin %.9g want %.9g\n", h(), want), 0));
  }
  k2<<<1, 1>>>(x, -5, 0.5f, out);
  CHECK(h() == 0);
  k2<<<1, 1>>>(x, 99, 99, out);
  CHECK(h() == 121);
  cudaTextureDesc t2;
  OK(cudaGetTextureObjectTextureDesc(&t2, x));
  CHECK(t2.filterMode == cudaFilterModeLinear && t2.addressMode[0] == cudaAddressModeClamp);
  cudaResourceDesc r2;
  OK(cudaGetTextureObjectResourceDesc(&r2, x));
  CHECK(r2.res.array.array == a);
  OK(cudaDestroyTextureObject(x));
  t.addressMode[0] = t.addressMode[1] = cudaAddressModeBorder;
  t.borderColor[0] = 9;
  t.filterMode = cudaFilterModePoint;
  OK(cudaCreateTextureObject(&x, &r, &t, nullptr));
  k2<<<1, 1>>>(x, -0.5f, 0.5f, out);
  CHECK(h() == 9 || (printf("border %g\n", h()), 0));
  OK(cudaDestroyTextureObject(x));
  t.addressMode[0] = t.addressMode[1] = cudaAddressModeWrap;
  t.normalizedCoords = 1;
  OK(cudaCreateTextureObject(&x, &r, &t, nullptr));
  k2<<<1, 1>>>(x, 1.125f, 0.5f, out);
  CHECK(h() == 16);
  k2<<<1, 1>>>(x, -0.125f, 0.5f, out);
  CHECK(h() == 49);
  OK(cudaDestroyTextureObject(x));
  t.addressMode[0] = t.addressMode[1] = cudaAddressModeMirror;
  OK(cudaCreateTextureObject(&x, &r, &t, nullptr));
  k2<<<1, 1>>>(x, 1.125f, 0.5f, out);
  CHECK(h() == 49);
  k2<<<1, 1>>>(x, -0.125f, 0.5f, out);
  CHECK(h() == 16);
  OK(cudaDestroyTextureObject(x));
  // normalized float reads
  {
    cudaArray_t c;
    unsigned char cv[8] = {0, 51, 102, 255};
    cudaChannelFormatDesc u1 = cudaCreateChannelDesc<unsigned char>();
    OK(cudaMallocArray(&c, &u1, 4));
    OK(cudaMemcpyToArray(c, 0, 0, cv, 4, cudaMemcpyHostToDevice));
    cudaResourceDesc rr = {};
    rr.resType = cudaResourceTypeArray;
    rr.res.array.array = c;
    cudaTextureDesc tt = {};
    tt.readMode = cudaReadModeNormalizedFloat;
    OK(cudaCreateTextureObject(&x, &rr, &tt, nullptr));
    ku<<<1, 1>>>(x, 1.5f, out);
    CHECK(h() == 51 / 255.0f);
    ku<<<1, 1>>>(x, 3.5f, out);
    CHECK(h() == 1.0f);
    OK(cudaDestroyTextureObject(x));
    tt.readMode = cudaReadModeElementType;
    tt.filterMode = cudaFilterModeLinear;
    EXPECT(cudaCreateTextureObject(&x, &rr, &tt, nullptr), cudaErrorInvalidFilterSetting);
    OK(cudaFreeArray(c));
  }
  // linear and pitched
  {
    float* lin;
    OK(cudaMalloc(&lin, 48));
    OK(cudaMemcpy(lin, v, 48, cudaMemcpyHostToDevice));
    cudaResourceDesc rr = {};
    rr.resType = cudaResourceTypeLinear;
    rr.res.linear.devPtr = lin;
    rr.res.linear.desc = f;
    rr.res.linear.sizeInBytes = 48;
    cudaTextureDesc tt = {};
    OK(cudaCreateTextureObject(&x, &rr, &tt, nullptr));
    kf<<<1, 1>>>(x, 5, out);
    CHECK(h() == 25);
    kf<<<1, 1>>>(x, 12, out);
    CHECK(h() == 0);
    kf<<<1, 1>>>(x, -1, out);
    CHECK(h() == 0);
    OK(cudaDestroyTextureObject(x));

    char* p2;
    size_t pitch;
    OK(cudaMallocPitch(&p2, &pitch, 16, 3));
    OK(cudaMemcpy2D(p2, pitch, v, 16, 16, 3, cudaMemcpyHostToDevice));
    rr = {};
    rr.resType = cudaResourceTypePitch2D;
    rr.res.pitch2D.devPtr = p2;
    rr.res.pitch2D.desc = f;
    rr.res.pitch2D.width = 4;
    rr.res.pitch2D.height = 3;
    rr.res.pitch2D.pitchInBytes = pitch;
    tt.filterMode = cudaFilterModeLinear;
    tt.addressMode[0] = tt.addressMode[1] = cudaAddressModeClamp;
    OK(cudaCreateTextureObject(&x, &rr, &tt, nullptr));
    k2<<<1, 1>>>(x, 1.0f, 1.5f, out);
    CHECK(h() == 20.5f);
    OK(cudaDestroyTextureObject(x));
    rr.res.pitch2D.pitchInBytes = 20;
    EXPECT(cudaCreateTextureObject(&x, &rr, &tt, nullptr), cudaErrorInvalidValue);
  }
  // surfaces
  {
    cudaArray_t c;
    OK(cudaMallocArray(&c, &f, 4, 4, cudaArraySurfaceLoadStore));
    cudaResourceDesc rr = {};
    rr.resType = cudaResourceTypeArray;
    rr.res.array.array = c;
    cudaSurfaceObject_t s;
    OK(cudaCreateSurfaceObject(&s, &rr));
    ks<<<1, 1>>>(s, 2, 3, 8.5f);
    OK(cudaDeviceSynchronize());
    float q[16];
    OK(cudaMemcpy2DFromArray(q, 16, c, 0, 0, 16, 4, cudaMemcpyDeviceToHost));
    CHECK(q[14] == 8.5f);
    cudaResourceDesc r3;
    OK(cudaGetSurfaceObjectResourceDesc(&r3, s));
    CHECK(r3.res.array.array == c);
    OK(cudaDestroySurfaceObject(s));
    OK(cudaFreeArray(c));
    // As recorded: also of arrays that weren't made for it.
    rr.res.array.array = a;
    OK(cudaCreateSurfaceObject(&s, &rr));
    OK(cudaDestroySurfaceObject(s));
    // Only of arrays; an H200 looks at the format first (asked with this program and one of its own).
    rr.resType = cudaResourceTypeLinear;
    EXPECT(cudaCreateSurfaceObject(&s, &rr), cudaErrorInvalidChannelDescriptor);
    rr.res.linear.desc = cudaCreateChannelDesc<float>();
    EXPECT(cudaCreateSurfaceObject(&s, &rr), cudaErrorInvalidValue);
  }
  // gather
  {
    cudaArray_t c;
    OK(cudaMallocArray(&c, &f, 4, 3, cudaArrayTextureGather));
    OK(cudaMemcpy2DToArray(c, 0, 0, v, 16, 16, 3, cudaMemcpyHostToDevice));
    cudaResourceDesc rr = {};
    rr.resType = cudaResourceTypeArray;
    rr.res.array.array = c;
    cudaTextureDesc tt = {};
    tt.addressMode[0] = tt.addressMode[1] = cudaAddressModeClamp;
    OK(cudaCreateTextureObject(&x, &rr, &tt, nullptr));
    kg<<<1, 1>>>(x, 1, 1, (float4*)out);
    float4 g;
    OK(cudaMemcpy(&g, out, 16, cudaMemcpyDeviceToHost));
    CHECK(g.x == 16 && g.y == 25 && g.z == 1 && g.w == 0);
    OK(cudaDestroyTextureObject(x));
    OK(cudaFreeArray(c));
  }
  // mipmaps
  {
    cudaMipmappedArray_t m;
    OK(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(4, 4, 0), 3));
    cudaArray_t l;
    for (int i = 0; i < 3; ++i) {
      OK(cudaGetMipmappedArrayLevel(&l, m, i));
      OK(cudaArrayGetInfo(&got, &ext, &fl, l));
      CHECK(ext.width == (size_t)(4 >> i) && ext.height == (size_t)(4 >> i));
      std::vector<float> q(16, 10.0f * (i + 1));
      OK(cudaMemcpy2DToArray(l, 0, 0, q.data(), 16, (4 >> i) * 4, 4 >> i, cudaMemcpyHostToDevice));
    }
    EXPECT(cudaGetMipmappedArrayLevel(&l, m, 3), cudaErrorInvalidValue);
    cudaResourceDesc rr = {};
    rr.resType = cudaResourceTypeMipmappedArray;
    rr.res.mipmap.mipmap = m;
    cudaTextureDesc tt = {};
    tt.addressMode[0] = tt.addressMode[1] = cudaAddressModeClamp;
    tt.normalizedCoords = 1;
    tt.mipmapFilterMode = cudaFilterModeLinear;
    tt.filterMode = cudaFilterModeLinear;
    tt.maxMipmapLevelClamp = 2;
    OK(cudaCreateTextureObject(&x, &rr, &tt, nullptr));
    kl<<<1, 1>>>(x, .5f, .5f, 0, out);
    CHECK(h() == 10);
    kl<<<1, 1>>>(x, .5f, .5f, 0.5f, out);
    CHECK(h() == 15);
    kl<<<1, 1>>>(x, .5f, .5f, 7, out);
    CHECK(h() == 30);
    OK(cudaDestroyTextureObject(x));
    OK(cudaFreeMipmappedArray(m));
  }
  // 3D
  {
    cudaArray_t c;
    OK(cudaMalloc3DArray(&c, &f, make_cudaExtent(2, 2, 2)));
    float q[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(q, 8, 2, 2);
    p.dstArray = c;
    p.extent = make_cudaExtent(2, 2, 2);
    p.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&p));
    cudaResourceDesc rr = {};
    rr.resType = cudaResourceTypeArray;
    rr.res.array.array = c;
    cudaTextureDesc tt = {};
    for (auto& m : tt.addressMode) m = cudaAddressModeClamp;
    tt.filterMode = cudaFilterModeLinear;
    OK(cudaCreateTextureObject(&x, &rr, &tt, nullptr));
    k3<<<1, 1>>>(x, 1, 1, 1, out);
    CHECK(h() == 3.5f);
    OK(cudaDestroyTextureObject(x));
    OK(cudaFreeArray(c));
    EXPECT(cudaMalloc3DArray(&c, &f, make_cudaExtent(4, 5, 6), cudaArrayCubemap), cudaErrorInvalidValue);
    OK(cudaMalloc3DArray(&c, &f, make_cudaExtent(4, 4, 6), cudaArrayCubemap));
    OK(cudaFreeArray(c));
    OK(cudaMalloc3DArray(&c, &f, make_cudaExtent(4, 0, 3), cudaArrayLayered));
    OK(cudaArrayGetInfo(&got, &ext, &fl, c));
    CHECK(ext.height == 0 && ext.depth == 3 && fl == cudaArrayLayered);
    OK(cudaFreeArray(c));
  }
  EXPECT(cudaCreateTextureObject(nullptr, &r, &t, nullptr), cudaErrorInvalidValue);
  EXPECT(cudaCreateTextureObject(&x, nullptr, &t, nullptr), cudaErrorInvalidValue);
  OK(cudaFreeArray(nullptr));
  OK(cudaFreeArray(a));
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}

// Texture and surface objects (CUDA Runtime API, "Texture Object Management", "Surface Object Management").
#include <api/unsafe.h>
#include <model/memory_array.h>

using namespace mr;

MR_API cudaCreateTextureObject(cudaTextureObject_t* out, const cudaResourceDesc* resource, const cudaTextureDesc* desc,
                               const cudaResourceViewDesc* view) {
  if (!out || !resource) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused_or_unsafe()) return api::result(error);
  if (!desc) return api::result(cudaErrorInvalidResourceHandle);
  model::current_context();
  return api::result(model::create_texture(out, *resource, *desc, view));
}
// Unknown objects are nothing to destroy, as on the real runtime.
MR_API cudaDestroyTextureObject(cudaTextureObject_t texture) {
  if (const cudaError_t error = api::refused_or_unsafe()) return api::result(error);
  model::destroy_texture(texture, false);
  return cudaSuccess;
}
MR_API cudaGetTextureObjectResourceDesc(cudaResourceDesc* out, cudaTextureObject_t texture) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  const model::TextureObject* object = model::texture_of(texture, false);
  if (!out || !object) return api::result(cudaErrorInvalidValue);
  *out = object->resource;
  return cudaSuccess;
}
MR_API cudaGetTextureObjectTextureDesc(cudaTextureDesc* out, cudaTextureObject_t texture) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  const model::TextureObject* object = model::texture_of(texture, false);
  if (!out || !object) return api::result(cudaErrorInvalidValue);
  *out = object->desc;
  return cudaSuccess;
}
MR_API cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* out, cudaTextureObject_t texture) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  const model::TextureObject* object = model::texture_of(texture, false);
  if (!out || !object) return api::result(cudaErrorInvalidValue);
  *out = object->view;
  return cudaSuccess;
}

MR_API cudaCreateSurfaceObject(cudaSurfaceObject_t* out, const cudaResourceDesc* resource) {
  if (!out || !resource) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused_or_unsafe()) return api::result(error);
  model::current_context();
  return api::result(model::create_surface(out, *resource));
}
MR_API cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  if (const cudaError_t error = api::refused_or_unsafe()) return api::result(error);
  model::destroy_texture(surface, true);
  return cudaSuccess;
}
MR_API cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* out, cudaSurfaceObject_t surface) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  const model::TextureObject* object = model::texture_of(surface, true);
  if (!object) return api::result(cudaErrorInvalidValue);
  if (!out) return api::result(cudaErrorInvalidDevice);  // as recorded
  *out = object->resource;
  return cudaSuccess;
}

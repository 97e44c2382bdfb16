// Clusters: the cluster-wide barrier and distributed shared memory. All blocks of a cluster are in one resident.
#pragma once
#include <cstdint>

#include <simt/resident.h>

namespace mr::simt {

void cluster_arrive(Self s) noexcept;
// Waits for the phase that the lane arrived in.
void cluster_wait(Self s) noexcept;
// The address in block `rank` of the cluster that corresponds to `pointer` in the shared memory of any of its blocks.
void* cluster_map(Block& b, void* pointer, std::uint32_t rank) noexcept;
std::uint32_t cluster_rank_of(Block& b, const void* pointer) noexcept;

}  // namespace mr::simt

// What operations have done with bytes of memory, each history once: bytes of one history share a number. An operation
// gives all bytes of one history the same next one, so there are about as many as pairs of operations and statements
// that are still of interest, whatever the bytes. Under the checker's lock.
#pragma once
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "order.h"

struct MrCheckSite;

namespace mr::check {

struct Access {
  OpRef op;
  std::uint32_t kind = 0;             // Kind
  const MrCheckSite* site = nullptr;  // device statement
  Call where;                         // host statement
  bool operator==(const Access&) const = default;
};

class Histories {
 public:
  using Id = std::uint32_t;  // 0: nobody has touched it

  const std::vector<Access>& of(Id id) const noexcept { return all_[id].accesses; }
  // The caller has one reference more.
  Id intern(std::vector<Access> accesses) {
    if (accesses.empty()) return 0;
    const std::size_t hash = hash_of(accesses);
    const auto [first, last] = by_hash_.equal_range(hash);
    for (auto it = first; it != last; ++it)
      if (all_[it->second].accesses == accesses) {
        ++all_[it->second].references;
        return it->second;
      }
    Id id;
    if (spare_.empty()) {
      id = static_cast<Id>(all_.size());
      all_.emplace_back();
    } else {
      id = spare_.back();
      spare_.pop_back();
    }
    accesses.shrink_to_fit();
    all_[id] = {std::move(accesses), 1, hash};
    by_hash_.emplace(hash, id);
    return id;
  }
  void keep(Id id) noexcept { all_[id].references += id != 0; }
  void drop(Id id) {
    if (id == 0 || --all_[id].references != 0) return;
    const auto [first, last] = by_hash_.equal_range(all_[id].hash);
    for (auto it = first; it != last; ++it)
      if (it->second == id) {
        by_hash_.erase(it);
        break;
      }
    all_[id].accesses = {};
    spare_.push_back(id);
  }
  std::size_t size() const noexcept { return by_hash_.size(); }

 private:
  static std::size_t hash_of(const std::vector<Access>& accesses) noexcept {
    std::size_t hash = accesses.size();
    const auto mix = [&](std::size_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15u; };
    for (const Access& a : accesses) {
      mix(reinterpret_cast<std::uintptr_t>(a.op.get()));
      mix(a.kind);
      mix(reinterpret_cast<std::uintptr_t>(a.site));
      mix(reinterpret_cast<std::uintptr_t>(a.where.get()));
    }
    return hash ^ hash >> 32;
  }
  struct One {
    std::vector<Access> accesses;
    std::uint64_t references = 0;
    std::size_t hash = 0;
  };
  std::vector<One> all_ = std::vector<One>(1);  // the first: nothing
  std::vector<Id> spare_;
  std::unordered_multimap<std::size_t, Id> by_hash_;
};

}  // namespace mr::check

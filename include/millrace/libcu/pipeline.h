// cuda::pipeline (libcu++): stages of asynchronous copies that producers fill and consumers drain.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "barrier.h"

namespace cuda {

enum class pipeline_role { producer, consumer };

// The barriers of a pipeline's stages, in memory that all its threads see.
template <thread_scope Scope, ::std::uint8_t Stages> class pipeline_shared_state {
 public:
  static_assert(Stages > 0, "a pipeline has at least one stage");
  pipeline_shared_state() = default;
  pipeline_shared_state(const pipeline_shared_state&) = delete;
  pipeline_shared_state& operator=(const pipeline_shared_state&) = delete;

  typedef barrier<Scope> stage_barrier;
  struct stage {
    alignas(stage_barrier) unsigned char produced[sizeof(stage_barrier)];
    alignas(stage_barrier) unsigned char consumed[sizeof(stage_barrier)];
  };
  stage __mr_stages[Stages];
  unsigned __mr_producers;
};

// One thread's view of a pipeline. Copies are made where they are written, so a pipeline of one thread has nothing to
// wait for; with shared state, `produced` and `consumed` of the stage order producers and consumers.
template <thread_scope Scope> class pipeline {
 public:
  pipeline(pipeline&&) = default;
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;

  __MR_CUM void producer_acquire() {
    if (stages_ != nullptr && producer_) consumed(head_)->wait_parity((head_ / count_ & 1) == 0);
  }
  __MR_CUM void producer_commit() {
    if (stages_ != nullptr && producer_) (void)produced(head_)->arrive();
    ++head_;
  }
  __MR_CUM void consumer_wait() {
    if (stages_ != nullptr && consumer_) produced(tail_)->wait_parity((tail_ / count_ & 1) != 0);
  }
  template <class Duration> __MR_CUM bool consumer_wait_for(const Duration& limit) {
    if (stages_ == nullptr || !consumer_) return true;
    return produced(tail_)->try_wait_parity_for((tail_ / count_ & 1) != 0, limit);
  }
  __MR_CUM void consumer_release() {
    if (stages_ != nullptr && consumer_) (void)consumed(tail_)->arrive();
    ++tail_;
  }
  // Leaves the pipeline: the others no longer wait for this thread.
  __MR_CUM bool quit() {
    if (stages_ != nullptr)
      for (unsigned i = 0; i < count_; ++i) {
        if (producer_) produced(i)->arrive_and_drop();
        if (consumer_) consumed(i)->arrive_and_drop();
      }
    stages_ = nullptr;
    return true;
  }

  __MR_CUM pipeline(void* stages, unsigned count, bool producer, bool consumer)
      : stages_(static_cast<unsigned char*>(stages)), count_(count), producer_(producer), consumer_(consumer) {}

 private:
  typedef barrier<Scope> stage_barrier;
  typedef typename pipeline_shared_state<Scope, 1>::stage stage;
  __MR_CUM stage* at(unsigned n) const { return reinterpret_cast<stage*>(stages_) + n % count_; }
  __MR_CUM stage_barrier* produced(unsigned n) const { return reinterpret_cast<stage_barrier*>(at(n)->produced); }
  __MR_CUM stage_barrier* consumed(unsigned n) const { return reinterpret_cast<stage_barrier*>(at(n)->consumed); }

  unsigned char* stages_;
  unsigned count_, head_ = 0, tail_ = 0;
  bool producer_, consumer_;
};

__MR_CU pipeline<thread_scope_thread> make_pipeline() { return {nullptr, 1, true, true}; }

#if defined(__CUDACC__)
namespace __mr_detail {
template <class Group, thread_scope Scope, ::std::uint8_t N>
__attribute__((device)) inline void open(const Group& group, pipeline_shared_state<Scope, N>* state, unsigned producers,
                                         unsigned consumers) {
  if (group.thread_rank() == 0)
    for (unsigned i = 0; i < N; ++i) {
      ::new ((void*)state->__mr_stages[i].produced) barrier<Scope>(producers);
      ::new ((void*)state->__mr_stages[i].consumed) barrier<Scope>(consumers);
    }
  group.sync();
}
}  // namespace __mr_detail

// All threads produce and consume.
template <class Group, thread_scope Scope, ::std::uint8_t N>
__attribute__((device)) inline pipeline<Scope> make_pipeline(const Group& group,
                                                             pipeline_shared_state<Scope, N>* state) {
  __mr_detail::open(group, state, (unsigned)group.size(), (unsigned)group.size());
  return {state->__mr_stages, N, true, true};
}
// The first `producers` threads of the group produce, the others consume.
template <class Group, thread_scope Scope, ::std::uint8_t N>
__attribute__((device)) inline pipeline<Scope> make_pipeline(const Group& group, pipeline_shared_state<Scope, N>* state,
                                                             ::std::size_t producers) {
  __mr_detail::open(group, state, (unsigned)producers, (unsigned)(group.size() - producers));
  const bool first = group.thread_rank() < producers;
  return {state->__mr_stages, N, first, !first};
}
template <class Group, thread_scope Scope, ::std::uint8_t N>
__attribute__((device)) inline pipeline<Scope> make_pipeline(const Group& group, pipeline_shared_state<Scope, N>* state,
                                                             pipeline_role role) {
  if (group.thread_rank() == 0) state->__mr_producers = 0;
  group.sync();
  if (role == pipeline_role::producer) atomicAdd(&state->__mr_producers, 1u);
  group.sync();
  const unsigned producers = state->__mr_producers;
  __mr_detail::open(group, state, producers, (unsigned)group.size() - producers);
  return {state->__mr_stages, N, role == pipeline_role::producer, role == pipeline_role::consumer};
}
#endif

// Waits for all but the last `Prior` commits of the thread: copies are complete when they are committed.
template <::std::uint8_t Prior> __MR_CU void pipeline_consumer_wait_prior(pipeline<thread_scope_thread>&) {}
template <thread_scope Scope> __MR_CU void pipeline_producer_commit(pipeline<thread_scope_thread>& p, barrier<Scope>&) {
  p.producer_commit();
}

template <class Group, class T, class Size, thread_scope S>
__MR_CU async_contract_fulfillment memcpy_async(const Group& group, T* to, const T* from, Size bytes, pipeline<S>&) {
  __mr_detail::copy(group, to, from, (::std::size_t)bytes);
  return async_contract_fulfillment::none;
}
template <class T, class Size, thread_scope S>
__MR_CU async_contract_fulfillment memcpy_async(T* to, const T* from, Size bytes, pipeline<S>&) {
  __builtin_memcpy(static_cast<void*>(to), static_cast<const void*>(from), (::std::size_t)bytes);
  return async_contract_fulfillment::none;
}
}  // namespace cuda

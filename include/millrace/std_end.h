// Ends what std_begin.h began.
#pragma clang system_header
#pragma clang force_cuda_host_device end
#pragma pop_macro("_GLIBCXX_THROW_OR_ABORT")

// Older programs include this name for what cuda_fp16.h declares.
#pragma once
#include "cuda_fp16.h"

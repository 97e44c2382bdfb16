// Older programs include this name for what cuda_bf16.h declares.
#pragma once
#include "cuda_bf16.h"

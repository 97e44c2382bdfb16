// What device code asks of the model: the one place that fills simt::Hooks.
#pragma once

namespace mr::model {

// Called before the first context is made. Each chapter that gives device code a service enters its function here.
void install_device_hooks() noexcept;

}  // namespace mr::model

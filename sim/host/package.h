// An installed op package as a process uses it: its host functions and its kernel binaries, loaded when needed.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "register/op_impl_registry.h"

#include "../model/c_api.h"
#include "../model/products.h"

namespace npu_sim {

// The functions of the model library of one architecture.
struct Model {
    decltype(&sim_create) create;
    decltype(&sim_tiling) tiling;
    decltype(&sim_argument) argument;
    decltype(&sim_run) run;
    decltype(&sim_violation) violation;
    decltype(&sim_time) time;
    decltype(&sim_last_error) lastError;
    decltype(&sim_destroy) destroy;
};

class Package {
public:
    // The package whose directory holds the library that `inside` lies in.
    static Package &of(const void *inside);

    // The op's host functions, or null after reporting why there are none.
    const gert::OpImplFunctions *functions(const char *type);

    // Loads a kernel binary into the model of a product's architecture; null after reporting why it cannot be.
    const Model *kernel(const sim::Product &product, const std::string &file, const std::string &name);

private:
    explicit Package(std::string directory) : directory_(std::move(directory)) {}

    const std::string directory_; // .../vendors/<vendor>
    std::mutex mutex_;
    bool loaded_ = false;
    gert::OpImplRegistry registry_;
    std::map<std::string, void *> kernels_;
};

// Held while kernels are loaded and launches made: the model keeps one list of its kernels.
std::mutex &modelMutex();

} // namespace npu_sim

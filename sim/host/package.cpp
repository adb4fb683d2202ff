#include "package.h"

#include <dlfcn.h>

#include "npu_sim.h"

namespace npu_sim {

namespace {

#if defined(__aarch64__)
#define NPU_SIM_HOST "aarch64"
#else
#define NPU_SIM_HOST "x86_64"
#endif

constexpr const char *kTilingLibrary = "/op_impl/ai_core/tbe/op_tiling/lib/linux/" NPU_SIM_HOST
                                       "/libcust_opmaster_rt2.0.so";

std::string parent(const std::string &path)
{
    return path.substr(0, path.find_last_of('/'));
}

template <typename Function> bool find(void *library, const char *name, Function *&function)
{
    function = reinterpret_cast<Function *>(dlsym(library, name));
    return function != nullptr;
}

// The model of an architecture, from the directory of this library; null after reporting why not.
const Model *modelOf(unsigned arch)
{
    static std::map<unsigned, Model> models;
    const auto known = models.find(arch);
    if (known != models.end()) {
        return &known->second;
    }
    Dl_info here;
    dladdr(reinterpret_cast<const void *>(&modelOf), &here);
    const std::string path = parent(here.dli_fname) + "/libnpu_model_" + std::to_string(arch) + ".so";
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    Model model;
    if (library == nullptr || !find(library, "sim_create", model.create) ||
        !find(library, "sim_tiling", model.tiling) || !find(library, "sim_argument", model.argument) ||
        !find(library, "sim_run", model.run) || !find(library, "sim_violation", model.violation) || !find(library, "sim_time", model.time) ||
        !find(library, "sim_last_error", model.lastError) || !find(library, "sim_destroy", model.destroy)) {
        npuSimReport("the model of architecture %u cannot be loaded: %s", arch, dlerror());
        return nullptr;
    }
    return &models.emplace(arch, model).first->second;
}

} // namespace

std::mutex &modelMutex()
{
    static std::mutex mutex;
    return mutex;
}

Package &Package::of(const void *inside)
{
    static std::mutex mutex;
    static std::map<std::string, Package *> packages; // never freed: libraries are never unloaded
    Dl_info info;
    dladdr(inside, &info);
    const std::string directory = parent(parent(parent(info.dli_fname))); // <vendor>/op_api/lib/libcust_opapi.so
    const std::lock_guard<std::mutex> lock(mutex);
    Package *&package = packages[directory];
    if (package == nullptr) {
        package = new Package(directory);
    }
    return *package;
}

const gert::OpImplFunctions *Package::functions(const char *type)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!loaded_) {
        const std::string path = directory_ + kTilingLibrary;
        const gert::OpImplRegistry::Collect collect(registry_);
        if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
            npuSimReport("%s: the package's tiling library cannot be loaded: %s", type, dlerror());
            return nullptr;
        }
        loaded_ = true;
    }
    const gert::OpImplFunctions *found = registry_.Find(type);
    if (found == nullptr || found->tiling == nullptr) {
        npuSimReport("%s: the package %s registers no tiling function of this op", type, directory_.c_str());
        return nullptr;
    }
    return found;
}

const Model *Package::kernel(const sim::Product &product, const std::string &file, const std::string &name)
{
    const std::lock_guard<std::mutex> lock(modelMutex());
    const Model *model = modelOf(product.arch);
    if (model == nullptr) {
        return nullptr;
    }
    const std::string path = directory_ + "/op_impl/ai_core/tbe/kernel/" + product.soc + "/" + file + "/" + name + ".o";
    void *&library = kernels_[path];
    if (library == nullptr) {
        library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    }
    if (library == nullptr) {
        npuSimReport("no kernel for these dtypes on %s: %s", product.soc, dlerror());
        return nullptr;
    }
    return model;
}

} // namespace npu_sim

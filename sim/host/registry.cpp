// libregister.so: what op libraries register while they are loaded, and how their errors reach the user.
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <list>

#include "base/err_msg.h"
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"
#include "register/register.h"

#include "npu_sim.h"

namespace {

struct Definition {
    const char *type;
    ops::OpDefFactory::Create create;
};

std::vector<Definition> &definitions()
{
    static std::vector<Definition> all;
    return all;
}

std::list<domi::OpRegistrationData> &registrations()
{
    static std::list<domi::OpRegistrationData> all;
    return all;
}

// Where libraries that this thread loads register their functions.
thread_local gert::OpImplRegistry *collecting = nullptr;

gert::OpImplRegistry &outsideAnyPackage()
{
    static gert::OpImplRegistry registry;
    return registry;
}

} // namespace

namespace ops {

int OpDefFactory::OpDefRegister(const char *type, Create create)
{
    definitions().push_back({type, create});
    return 0;
}

std::vector<OpDef> OpDefFactory::All()
{
    std::vector<OpDef> made;
    for (const Definition &definition : definitions()) {
        made.push_back(definition.create(definition.type));
    }
    return made;
}

} // namespace ops

namespace gert {

OpImplRegistry::Collect::Collect(OpImplRegistry &registry) : before_(collecting) { collecting = &registry; }

OpImplRegistry::Collect::~Collect() { collecting = before_; }

OpImplFunctions &OpImplRegistry::OfCurrent(const char *type)
{
    OpImplRegistry &registry = collecting == nullptr ? outsideAnyPackage() : *collecting;
    for (Entry *entry : registry.entries_) {
        if (std::strcmp(entry->type, type) == 0) {
            return entry->functions;
        }
    }
    registry.entries_.push_back(new Entry{type, {}});
    return registry.entries_.back()->functions;
}

const OpImplFunctions *OpImplRegistry::Find(const char *type) const
{
    for (const Entry *entry : entries_) {
        if (std::strcmp(entry->type, type) == 0) {
            return &entry->functions;
        }
    }
    return nullptr;
}

} // namespace gert

namespace domi {

OpReceiver::OpReceiver(const OpRegistrationData &registration) { registrations().push_back(registration); }

const OpRegistrationData *OpReceiver::Find(const char *origin)
{
    for (const OpRegistrationData &registration : registrations()) {
        for (const std::string &known : registration.origins) {
            if (known == origin) {
                return &registration;
            }
        }
    }
    return nullptr;
}

} // namespace domi

namespace ge {

int32_t ReportInnerErrMsg(const char *, const char *, uint32_t, const char *code, const char *format, ...)
{
    char message[4096];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    npuSimReport("%s: %s", code, message);
    return 0;
}

} // namespace ge

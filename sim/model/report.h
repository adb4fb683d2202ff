// What a launch did, as text: JSON for the Python side, Chrome trace events for a viewer.
#pragma once

#include <cstdint>
#include <string>

#include "launch.h"

namespace sim {

std::string reportJson(const Launch& launch, uint64_t compulsoryBytes, uint64_t compulsoryAdditions);
std::string chromeTrace(const Launch& launch, Assumption assumption);
std::string violationText(const Launch& launch, const Violation& violation);

} // namespace sim

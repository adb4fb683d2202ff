// What a tiling-parse function is given, once per op: nothing that this project's ops ask for.
#pragma once

namespace gert {

class TilingParseContext {};

} // namespace gert

// Names of CANN's generator, dtypes, and writing a file.
#include <cctype>
#include <fstream>
#include <stdexcept>

#include "generate.h"

namespace op_build {

namespace {

bool isUpper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool isLower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
char upper(char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }
char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

} // namespace

const Dtype &dtype(ge::DataType value)
{
    static const Dtype known[] = {
        {ge::DT_FLOAT, "float", "float", "ge::DT_FLOAT"},
        {ge::DT_FLOAT16, "float16", "half", "ge::DT_FLOAT16"},
        {ge::DT_BF16, "bfloat16", "bfloat16_t", "ge::DT_BF16"},
        {ge::DT_INT64, "int64", "int64_t", "ge::DT_INT64"},
    };
    for (const Dtype &row : known) {
        if (row.value == value) {
            return row;
        }
    }
    throw std::runtime_error("data type " + std::to_string(value) + " is none that kernels are built for");
}

std::string snakeCase(const std::string &name)
{
    std::string snake;
    for (size_t i = 0; i < name.size(); ++i) {
        if (i > 0 && isUpper(name[i]) && !isUpper(name[i - 1])) {
            snake += '_';
        }
        snake += lower(name[i]);
    }
    return snake;
}

std::string camelCase(const std::string &name)
{
    std::string camel;
    bool begins = false;
    for (const char c : name) {
        if (c == '_') {
            begins = true;
        } else {
            camel += begins ? upper(c) : c;
            begins = false;
        }
    }
    return camel;
}

std::string guardName(const std::string &type)
{
    std::string guard;
    for (size_t i = 0; i < type.size(); ++i) {
        if (i > 0 && isUpper(type[i]) && isLower(type[i - 1])) { // no separator after a digit
            guard += '_';
        }
        guard += upper(type[i]);
    }
    return guard;
}

bool readByHost(const ops::OpParamDef &input) { return input.valueDepend != ops::IGNORE; }

void write(const std::string &path, const std::string &text)
{
    std::ofstream file(path);
    file << text;
    file.close();
    if (!file) {
        throw std::runtime_error(path + " cannot be written");
    }
}

} // namespace op_build

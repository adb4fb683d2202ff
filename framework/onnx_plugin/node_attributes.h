// A node's attributes as CANN's ONNX parser hands them to a plug-in: one JSON text in the attribute "attribute".
//
// {"attribute": [{"name": "pads", "type": 7, "ints": [1, 1, 1, 1]}, ...]}; numbers may be quoted. CANN ships no JSON
// library to plug-ins, and this is all of JSON that integer lists need.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace col2im {

using IntLists = std::map<std::string, std::vector<int64_t>>;

class NodeAttributes {
public:
    explicit NodeAttributes(const char *json) : at_(json) {}

    // Every attribute that is a list of integers, by name; false if the text is not of the form above.
    bool read(IntLists &lists)
    {
        lists_ = &lists;
        return value();
    }

private:
    void skipSpaces()
    {
        while (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t') {
            ++at_;
        }
    }

    bool take(char c)
    {
        skipSpaces();
        const bool there = *at_ == c;
        at_ += there ? 1 : 0;
        return there;
    }

    bool string(std::string &text)
    {
        if (!take('"')) {
            return false;
        }
        for (text.clear(); *at_ != '\0' && *at_ != '"'; ++at_) {
            at_ += *at_ == '\\' && at_[1] != '\0' ? 1 : 0;
            text += *at_;
        }
        return take('"');
    }

    // A word outside quotes: a number, true, false or null.
    bool word(std::string &text)
    {
        skipSpaces();
        for (text.clear(); *at_ != '\0' && std::string(",]} \n\r\t").find(*at_) == std::string::npos; ++at_) {
            text += *at_;
        }
        return !text.empty();
    }

    bool scalar(std::string &text)
    {
        skipSpaces();
        return *at_ == '"' ? string(text) : word(text);
    }

    bool object()
    {
        std::string name, key;
        std::vector<int64_t> ints;
        bool isList = false;
        while (!take('}')) {
            if (!string(key) || !take(':')) {
                return false;
            }
            if (key == "ints") {
                isList = true;
                if (!integers(ints)) {
                    return false;
                }
            } else if (!(key == "name" ? scalar(name) : value())) {
                return false;
            }
            take(',');
        }
        if (isList) {
            (*lists_)[name] = ints;
        }
        return true;
    }

    bool integers(std::vector<int64_t> &ints)
    {
        if (!take('[')) {
            return false;
        }
        std::string text;
        while (!take(']')) {
            char *end = nullptr;
            if (!scalar(text)) {
                return false;
            }
            ints.push_back(std::strtoll(text.c_str(), &end, 10));
            if (*end != '\0') {
                return false;
            }
            take(',');
        }
        return true;
    }

    bool value()
    {
        std::string text;
        if (take('{')) {
            return object();
        }
        if (!take('[')) {
            return scalar(text);
        }
        while (!take(']')) {
            if (!value()) {
                return false;
            }
            take(',');
        }
        return true;
    }

    const char *at_;
    IntLists *lists_ = nullptr;
};

} // namespace col2im

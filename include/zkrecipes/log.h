// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace zkrecipes {

/// info: worth knowing, nothing to do. warning: something is wrong outside, such as a server or the network, or a hold
/// was lost. error: something must be changed by people: a permission, a setting of the server, the program.
enum class LogSeverity { info, warning, error };

const char* to_string(LogSeverity severity) noexcept;

/// Takes the lines that a connection would write to glog otherwise, each a sentence without a line break at its end.
///
///     options.log = [](zkrecipes::LogSeverity severity, const std::string& line) {
///       my_logger.write(zkrecipes::to_string(severity), line);
///     };
///
/// It is called on threads of the library and on threads that call the library, on several at the same time, also while
/// the connection is being closed; so it must be thread-safe. The library holds none of its locks then: the sink may
/// ask the connection for its state() or session_id(). It must not make calls that block, and it must return soon,
/// because heartbeats may wait for it. Exceptions that it throws are dropped. It may be called until the connection and
/// all locks and holds that were made on it are destroyed.
using LogSink = std::function<void(LogSeverity severity, const std::string& line)>;

}  // namespace zkrecipes

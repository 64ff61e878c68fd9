// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/locks/postgres_session.h"

#include <chrono>
#include <poll.h>
#include <stdexcept>
#include <thread>

namespace comparison {
namespace {

constexpr std::chrono::milliseconds kReconnectPause{20};

std::string settings_for(const std::string& endpoint) {
  const std::size_t colon = endpoint.rfind(':');
  return "host=" + endpoint.substr(0, colon) + " port=" + endpoint.substr(colon + 1) +
         " user=postgres dbname=postgres connect_timeout=5";
}

}  // namespace

PostgresSession::PostgresSession(const std::string& endpoint) : settings_(settings_for(endpoint)) {
  if (!connect()) throw std::runtime_error(PQerrorMessage(connection_.get()));
}

bool PostgresSession::connect() {
  connection_.reset(PQconnectdb(settings_.c_str()));
  // A server that shuts down reports it, and libpq would print the report.
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr);
  return PQstatus(connection_.get()) == CONNECTION_OK;
}

std::optional<int> PostgresSession::execute(const std::string& sql, const std::vector<std::string>& parameters) {
  if (PQstatus(connection_.get()) != CONNECTION_OK && !connect()) {
    std::this_thread::sleep_for(kReconnectPause);
    return std::nullopt;
  }
  std::vector<const char*> values;
  for (const std::string& parameter : parameters) values.push_back(parameter.c_str());
  ++statements_;
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(
      PQexecParams(connection_.get(), sql.c_str(), static_cast<int>(values.size()), nullptr, values.data(), nullptr,
                   nullptr, 0),
      &PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status == PGRES_TUPLES_OK) return PQntuples(result.get());
  if (status == PGRES_COMMAND_OK) {
    const std::string changed = PQcmdTuples(result.get());
    return changed.empty() ? 0 : std::stoi(changed);
  }
  // A server that shuts down says so before it closes the connection.
  const char* const state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
  const bool going_down = state != nullptr && std::string(state).rfind("57P", 0) == 0;
  if (!going_down && PQstatus(connection_.get()) == CONNECTION_OK)
    throw std::runtime_error(PQerrorMessage(connection_.get()));
  connection_.reset();
  return std::nullopt;
}

bool PostgresSession::is_connected() {
  if (PQstatus(connection_.get()) != CONNECTION_OK) return false;
  pollfd readable{PQsocket(connection_.get()), POLLIN, 0};
  if (::poll(&readable, 1, 0) == 0) return true;
  return PQconsumeInput(connection_.get()) == 1 && PQstatus(connection_.get()) == CONNECTION_OK;
}

}  // namespace comparison

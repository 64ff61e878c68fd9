// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/servers/postgres_server.h"

#include <libpq-fe.h>
#include <stdexcept>
#include <unistd.h>

#include "bench/comparison/locks/postgres_session.h"

namespace comparison {
namespace {

constexpr std::chrono::seconds kPatience{60};  // killed, it would leave shared memory behind

ServerProcess::Settings settings() {
  ServerProcess::Settings settings;
  settings.name = "PostgreSQL";
  // "Immediate shutdown": a crash in all but that it also ends its own children.
  settings.end_signal = SIGQUIT;
  settings.patience = kPatience;
  const std::string program = PostgresServer::program();
  if (::geteuid() == 0) settings.user = "postgres";
  settings.command = [program](int port, const std::filesystem::path& folder) {
    return std::vector<std::string>{program,
                                    "-D",
                                    folder / "data",
                                    "-c",
                                    "listen_addresses=127.0.0.1",
                                    "-c",
                                    "port=" + std::to_string(port),
                                    "-c",
                                    "unix_socket_directories=",
                                    "-c",
                                    "shared_buffers=16MB"};
  };
  settings.answers = [](const std::string& endpoint) {
    const std::string port = endpoint.substr(endpoint.rfind(':') + 1);
    return PQping(("host=127.0.0.1 connect_timeout=2 port=" + port).c_str()) == PQPING_OK;
  };
  return settings;
}

}  // namespace

std::string PostgresServer::program() {
  return find_program("postgres", "postgresql");
}

PostgresServer::PostgresServer() : process_(settings()) {
  initialise();
  process_.start();
  PostgresSession session(process_.endpoint());
  session.execute("CREATE TABLE row_locks (name text PRIMARY KEY)");
  session.execute("CREATE TABLE insert_locks (name text PRIMARY KEY, owner text NOT NULL)");
}

void PostgresServer::initialise() {
  testkit::ChildOptions options;
  options.end_signal = 0;  // takes a second or less, and would leave shared memory behind, too
  options.patience = kPatience;
  options.log_file = process_.folder() / "initdb.log";
  const std::filesystem::path program = PostgresServer::program();  // its initdb, and not that of another version
  testkit::ChildProcess initdb(
      process_.wrapped({program.parent_path() / "initdb", "-D", process_.folder() / "data", "-U", "postgres",
                        "--auth=trust", "--locale=C", "--encoding=UTF8", "--no-sync", "--no-instructions"}),
      options);
  if (initdb.wait(kPatience) != 0)
    throw std::runtime_error("PostgreSQL's initdb fails. " + end_of_log(options.log_file));
}

}  // namespace comparison

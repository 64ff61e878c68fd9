// SPDX-License-Identifier: Apache-2.0
#include "examples/lock_server/run.h"

#include <iostream>

#include "examples/lock_server/clients.h"
#include "examples/lock_server/ticker.h"
#include "examples/support/program.h"
#include "examples/support/say.h"

namespace examples {

using boost::asio::ip::tcp;

int run_lock_server(const std::string& name, const std::string& purpose, int argc, const char* const* argv,
                    const Serve& serve) {
  Program program(name, purpose);
  Load load;
  int work = 1;
  program.options().number("requests", &load.requests, 1, 1'000'000, "how many clients come");
  program.options().number("at-once", &load.at_once, 1, 400, "how many of them at the same time");
  program.options().number("locks", &load.locks, 1, 1000, "how many locks they want");
  program.options().number("work", &work, 0, 10'000, "milliseconds of work under the lock");

  return program.run(argc, argv, [&] {
    const auto connection = program.connect(name);
    Service service(*connection, "/zkrecipes-examples/" + name, load.locks, std::chrono::milliseconds(work));
    boost::asio::io_context io;
    tcp::acceptor acceptor(io, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
    say("server", "listens on port " + std::to_string(acceptor.local_endpoint().port()));
    Ticker ticker(io, [&] { return std::to_string(service.answered()) + " of " + std::to_string(load.requests); });
    Clients clients(io, acceptor.local_endpoint(), load);
    serve(acceptor, service);
    clients.start([&] {
      acceptor.close();
      ticker.stop();
    });
    io.run();  // this thread does everything: it accepts, waits for locks, works and answers

    say("server", "never blocked: its timer ticks every millisecond, and the longest gap says how late it ever was");
    std::cout << service.summary() << ", holds left: " << service.nodes_left()
              << ", longest gap: " << ticker.longest_gap().count() << " ms" << std::endl;
  });
}

}  // namespace examples

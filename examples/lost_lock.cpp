// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <future>
#include <iostream>
#include <string>
#include <zkrecipes/fair_mutex.h>

#include "examples/support/program.h"
#include "examples/support/relay.h"
#include "examples/support/say.h"

int main(int argc, char** argv) {
  examples::Program program("lost_lock",
                            "The network of the holder is cut. The holder learns from its own clock that the lock\n"
                            "is lost, and before anybody else can have it.");
  int session_timeout = 2000;
  program.options().number("session-timeout", &session_timeout, 500, 60'000,
                           "milliseconds; the server may have a larger minimum");

  return program.run(argc, argv, [&] {
    examples::Relay line(program.servers());
    zkrecipes::ConnectionOptions options;
    options.session_timeout = std::chrono::milliseconds(session_timeout);
    const auto other = program.connect("other", options);
    options.servers = line.address();
    const auto connection = program.connect("holder", options);
    zkrecipes::FairMutex mutex(*connection, "/zkrecipes-examples/lost_lock");
    zkrecipes::FairMutex same_mutex(*other, "/zkrecipes-examples/lost_lock");

    const zkrecipes::Hold hold = mutex.acquire();
    std::promise<zkrecipes::Clock::time_point> lost;
    const auto subscription = hold.on_lost([&] { lost.set_value(zkrecipes::Clock::now()); });
    examples::say("holder", "has the lock, token " + hold.token().to_string());
    zkrecipes::PendingHold waiting = same_mutex.acquire_async();
    examples::say("other", "waits for it");

    line.cut();
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(hold.valid_until() - zkrecipes::Clock::now());
    examples::say("", "the holder's line is cut");
    examples::say("holder", "the lock is mine for " + std::to_string(left.count()) + " ms more, in any case");

    const auto lost_at = lost.get_future().get();
    examples::say("holder",
                  std::string("on_lost: I must stop now; is_valid() is ") + (hold.is_valid() ? "true" : "false"));
    const zkrecipes::Hold next = waiting.get();
    const auto granted_at = zkrecipes::Clock::now();
    examples::say("other", "has the lock, token " + next.token().to_string());

    const auto gap = std::chrono::duration_cast<std::chrono::milliseconds>(granted_at - lost_at);
    std::cout << "the holder knew " << gap.count() << " ms before the other one had the lock" << std::endl;
    if (gap.count() < 0) throw std::runtime_error("two held the lock at once");
    line.mend();
  });
}

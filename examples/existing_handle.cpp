// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <zkrecipes/fair_mutex.h>
#include <zookeeper/zookeeper.h>

#include "examples/support/interrupt.h"
#include "examples/support/program.h"
#include "examples/support/say.h"

namespace {

/// The part that the program had before: a handle, and a watcher that it relies on.
void watcher(zhandle_t*, int, int, const char*, void*) {}

struct CloseHandle {
  void operator()(zhandle_t* handle) const { zookeeper_close(handle); }
};
using Handle = std::unique_ptr<zhandle_t, CloseHandle>;

std::string read_root(zhandle_t* handle) {
  String_vector children{};
  if (zoo_get_children(handle, "/", 0, &children) != ZOK) return "cannot read";
  std::string text = std::to_string(children.count) + " nodes under /";
  deallocate_String_vector(&children);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  examples::Program program("existing_handle",
                            "A program that has a zhandle_t of the C client already gets locks on top of it. Its\n"
                            "session, its watcher and its calls stay as they are.");
  return program.run(argc, argv, [&] {
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    const Handle handle(zookeeper_init(program.servers().c_str(), watcher, 10'000, nullptr, nullptr, 0));
    if (!handle) throw std::invalid_argument("--servers is no list of servers: " + program.servers());

    const auto connection = std::make_shared<zkrecipes::Connection>(handle.get());  // never closes the handle
    examples::close_on_interrupt(connection);
    program.await(*connection);
    const bool same = connection->session_id() == zoo_client_id(handle.get())->client_id;
    examples::say("program", std::string("the session is ") + (same ? "the handle's own" : "another?!"));

    zkrecipes::FairMutex mutex(*connection, "/zkrecipes-examples/existing_handle");
    {
      const std::lock_guard guard(mutex);
      examples::say("program", "has the lock, token " + mutex.fencing_token().to_string());
      examples::say("program", "and uses its handle as ever: " + read_root(handle.get()));
    }
    connection->close();
    std::cout << "after the Connection is closed the handle still works: "
              << (zoo_exists(handle.get(), "/", 0, nullptr) == ZOK ? "yes" : "no") << std::endl;
  });
}

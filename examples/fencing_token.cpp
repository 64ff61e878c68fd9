// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <mutex>
#include <string>
#include <zkrecipes/fair_mutex.h>
#include <zkrecipes/fencing_gate.h>

#include "examples/support/program.h"
#include "examples/support/say.h"

namespace {

/// The service that owns the data. It need not know ZooKeeper: a number that only grows is all it looks at.
class Store {
 public:
  bool write(const std::string& text, zkrecipes::FencingToken token) {
    const std::lock_guard guard(mutex_);  // check and write are one step
    if (!gate_.admit(token)) return false;
    text_ = text;
    return true;
  }
  const std::string& text() const { return text_; }

 private:
  std::mutex mutex_;
  zkrecipes::FencingGate gate_;
  std::string text_;
};

void write(Store& store, const std::string& who, zkrecipes::FencingToken token) {
  const bool accepted = store.write("by " + who, token);
  examples::say(who, "writes with token " + token.to_string() + ": " + (accepted ? "accepted" : "REFUSED"));
}

}  // namespace

int main(int argc, char** argv) {
  examples::Program program("fencing_token",
                            "Each hold has a token, and later holds have larger ones. A store that refuses smaller\n"
                            "tokens is safe from a holder that is late; see pause for how one gets late.");
  return program.run(argc, argv, [&] {
    const auto early = program.connect("early");
    const auto later = program.connect("later");
    zkrecipes::FairMutex early_mutex(*early, "/zkrecipes-examples/fencing_token");
    zkrecipes::FairMutex later_mutex(*later, "/zkrecipes-examples/fencing_token");
    Store store;

    zkrecipes::Hold early_hold = early_mutex.acquire();
    const zkrecipes::FencingToken early_token = early_hold.token();
    write(store, "early", early_token);
    early_hold.release();

    const zkrecipes::Hold later_hold = later_mutex.acquire();
    write(store, "later", later_hold.token());

    examples::say("early", "a write that was under way all the time arrives only now");
    write(store, "early", early_token);
    std::cout << "the store has the text " << store.text() << ", as it must" << std::endl;
    if (store.text() != "by later") throw std::runtime_error("the late write was not refused");
  });
}

// SPDX-License-Identifier: Apache-2.0
#include "examples/pause/writer.h"

#include <chrono>
#include <future>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#include <utility>
#include <zkrecipes/fair_mutex.h>

#include "examples/pause/timeline.h"
#include "examples/support/store.h"

namespace pause_example {
namespace {

constexpr std::chrono::milliseconds kWork{120};  // makes the steps visible on the timeline

/// The word from the parent. A thread listens, because the parent's end must end this process wherever it stands.
std::future<void> listen_to_parent() {
  auto promise = std::make_shared<std::promise<void>>();
  auto future = promise->get_future();
  std::thread([promise] {
    std::string line;
    if (std::getline(std::cin, line)) promise->set_value();
    while (std::getline(std::cin, line)) {
    }
    ::_exit(1);
  }).detach();
  return future;
}

}  // namespace

std::string WriterSpec::encode() const {
  std::ostringstream words;
  words << name << ' ' << amount << ' ' << checks_validity << ' ' << waits_before << ' ' << session_timeout << ' '
        << path << ' ' << store_port;
  return words.str();
}

WriterSpec WriterSpec::decode(std::istream& words) {
  WriterSpec spec;
  if (!(words >> spec.name >> spec.amount >> spec.checks_validity >> spec.waits_before >> spec.session_timeout >>
        spec.path >> spec.store_port))
    throw examples::UsageError("--role is for the program's own child processes");
  return spec;
}

void run_writer(examples::Program& program, const WriterSpec& spec) {
  const auto report = [&](What what, const std::string& detail = {}) {
    std::cout << encode(now(spec.name, what, detail)) << std::endl;
  };
  auto word = listen_to_parent();
  const auto pause_before = [&](const std::string& step) {
    if (spec.waits_before != step || !word.valid()) return;
    report(What::about_to_go_on);
    word.get();
  };
  const examples::StoreClient store(spec.store_port);
  zkrecipes::ConnectionOptions options;
  options.session_timeout = std::chrono::milliseconds(spec.session_timeout);
  const auto connection = program.connect(std::string("writer ") + spec.name, options);
  zkrecipes::FairMutex mutex(*connection, spec.path);

  for (;;) {
    report(What::started);
    zkrecipes::Hold hold = mutex.acquire();
    report(What::granted, hold.token().to_string());
    const int value = store.read() + spec.amount;
    report(What::read, std::to_string(value - spec.amount));
    std::this_thread::sleep_for(kWork);

    pause_before("check");
    if (spec.checks_validity && !hold.is_valid()) {
      report(What::gave_up);
      continue;
    }
    if (spec.checks_validity) report(What::checked);
    pause_before("write");
    const std::string text = std::to_string(value);
    if (!store.write(value, hold.token())) {
      report(What::refused, text);
      continue;
    }
    report(What::wrote, text);
    try {
      hold.release();
    } catch (const zkrecipes::Error&) {
      report(What::told);
    }
    report(What::done);
    return;
  }
}

}  // namespace pause_example

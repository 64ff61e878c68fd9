// SPDX-License-Identifier: Apache-2.0
//
// Calls that send no request: nanoseconds per call. The program needs a server all the same, to have a hold.
#include <benchmark/benchmark.h>
#include <iostream>
#include <memory>
#include <zkrecipes/fair_mutex.h>
#include <zkrecipes/fencing_gate.h>
#include <zkrecipes/recursive_fair_mutex.h>

#include "bench/workloads/connect.h"

namespace {

// Constant while benchmarks run.
zkrecipes::Connection* connection = nullptr;
zkrecipes::Hold* hold = nullptr;

void hold_is_valid(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(hold->is_valid());
}
BENCHMARK(hold_is_valid)->ThreadRange(1, 2);

void hold_valid_until(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(hold->valid_until());
}
BENCHMARK(hold_valid_until);

void hold_token(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(hold->token());
}
BENCHMARK(hold_token);

void mutex_is_held(benchmark::State& state) {
  zkrecipes::FairMutex mutex(*connection, "/bench/micro/held");
  mutex.lock();
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(mutex.is_held());
  mutex.unlock();
}
BENCHMARK(mutex_is_held);

void recursive_reentry(benchmark::State& state) {
  zkrecipes::RecursiveFairMutex mutex(*connection, "/bench/micro/recursive");
  mutex.lock();
  for ([[maybe_unused]] auto _ : state) {
    mutex.lock();
    mutex.unlock();
  }
  mutex.unlock();
}
BENCHMARK(recursive_reentry);

void gate_admit(benchmark::State& state) {
  zkrecipes::FencingGate gate;
  zkrecipes::FencingToken token = hold->token();
  for ([[maybe_unused]] auto _ : state) {
    ++token.zxid;
    benchmark::DoNotOptimize(gate.admit(token));
  }
}
BENCHMARK(gate_admit);

void gate_refuse(benchmark::State& state) {
  zkrecipes::FencingGate gate;
  const zkrecipes::FencingToken old = hold->token();
  gate.reset({old.zxid + 1});
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(gate.admit(old));
}
BENCHMARK(gate_refuse);

void token_to_text_and_back(benchmark::State& state) {
  const zkrecipes::FencingToken token = hold->token();
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(zkrecipes::FencingToken::parse(token.to_string()));
}
BENCHMARK(token_to_text_and_back);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc != 2) {
    std::cerr << "usage: micro [options of Google Benchmark] HOST:PORT\n";
    return 2;
  }
  try {
    const auto opened = bench::connect(argv[1]);
    zkrecipes::FairMutex mutex(*opened, "/bench/micro/hold");
    zkrecipes::Hold held = mutex.acquire();
    connection = opened.get();
    hold = &held;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "micro: " << error.what() << "\n";
    return 1;
  }
}

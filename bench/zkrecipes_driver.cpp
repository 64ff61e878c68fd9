// SPDX-License-Identifier: Apache-2.0
//
// Our own library, used as any program would use it.
#include "bench/driver/driver.h"
#include "bench/workloads/asynchronous.h"
#include "bench/workloads/contended.h"
#include "bench/workloads/lock_kinds.h"
#include "bench/workloads/newcomer.h"
#include "bench/workloads/uncontended.h"

int main(int argc, char** argv) {
  return bench::drive(argc, argv, "zkrecipes",
                      {{"lock", bench::lock_and_unlock},
                       {"confirmed", bench::acquire_and_release},
                       {"read", bench::read_lock},
                       {"semaphore", bench::semaphore_permit},
                       {"reentry", bench::reentry},
                       {"handover", bench::hand_over},
                       {"drain", bench::drain},
                       {"many", bench::many_locks},
                       {"waiting", bench::waiting},
                       {"newcomer", bench::newcomer}},
                      bench::lock_kinds());
}

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zkrecipes/connection.h"
#include "zkrecipes/connection_options.h"
#include "zkrecipes/contenders.h"
#include "zkrecipes/error.h"
#include "zkrecipes/fair_mutex.h"
#include "zkrecipes/fencing_gate.h"
#include "zkrecipes/fencing_token.h"
#include "zkrecipes/hold.h"
#include "zkrecipes/lock_options.h"
#include "zkrecipes/pending_hold.h"
#include "zkrecipes/read_write_lock.h"
#include "zkrecipes/recursive_fair_mutex.h"
#include "zkrecipes/revocation.h"
#include "zkrecipes/semaphore.h"
#include "zkrecipes/simple_lock.h"

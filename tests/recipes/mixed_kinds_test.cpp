// SPDX-License-Identifier: Apache-2.0
// A path is for one kind of lock. Kinds that do not see each other's nodes must not both hold there.
#include <future>

#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The locks with a queue under one interface.
struct MutexBeside : FairMutex {
  static constexpr const char* kName = "FairMutex";
  using FairMutex::FairMutex;
};
struct ReaderBeside : ReadWriteLock {
  static constexpr const char* kName = "ReadWriteLockReading";
  using ReadWriteLock::ReadWriteLock;
  Hold acquire() { return acquire_read(); }
  AcquireResult try_acquire() { return try_acquire_read(); }
  PendingHold acquire_async() { return acquire_read_async(); }
};
struct WriterBeside : ReadWriteLock {
  static constexpr const char* kName = "ReadWriteLockWriting";
  using ReadWriteLock::ReadWriteLock;
  Hold acquire() { return acquire_write(); }
  AcquireResult try_acquire() { return try_acquire_write(); }
  PendingHold acquire_async() { return acquire_write_async(); }
};
struct QueueNames {
  template <class Lock>
  static std::string GetName(int /*index*/) {
    return Lock::kName;
  }
};

/// The text of the Error(unusable_path) that `action` throws; empty if it throws none.
std::string refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), make_error_code(ErrorCode::unusable_path)) << error.what();
    return error.what();
  }
  return "";
}

template <class Lock>
class MixedKindsTest : public RecipeTest {
 protected:
  bool wait_for_children_of_path(std::size_t number) { return wait_for_children(kPath, number); }
};
using LocksWithAQueue = ::testing::Types<MutexBeside, ReaderBeside, WriterBeside>;
TYPED_TEST_SUITE(MixedKindsTest, LocksWithAQueue, QueueNames);

TYPED_TEST(MixedKindsTest, ALockAtASemaphoresPath_IsRefusedAndLeavesNoNode) {
  Semaphore semaphore(this->connect(), this->kPath, 2);
  TypeParam lock(this->connect(), this->kPath);
  Hold permit = semaphore.acquire();
  const auto names_both = AllOf(HasSubstr("Semaphore"), HasSubstr(this->kPath), HasSubstr("a path of its own"));
  EXPECT_THAT(refusal_of([&] { static_cast<void>(lock.acquire()); }), names_both);
  EXPECT_THAT(refusal_of([&] { static_cast<void>(lock.try_acquire()); }), names_both);
  PendingHold pending = lock.acquire_async();
  EXPECT_THAT(refusal_of([&] { static_cast<void>(this->get(pending)); }), names_both);
  EXPECT_TRUE(this->wait_for_children_of_path(2)) << "the two folders";
  EXPECT_TRUE(permit.is_valid());
  EXPECT_TRUE(semaphore.try_acquire()) << "its other users are not disturbed";
}

TYPED_TEST(MixedKindsTest, ASemaphoreAtALocksPath_IsRefusedAndLeavesNoFolder) {
  TypeParam lock(this->connect(), this->kPath), other(this->connect(), this->kPath);
  Semaphore semaphore(this->connect(), this->kPath, 2);
  Hold hold = lock.acquire();
  const auto names_both =
      AllOf(HasSubstr("FairMutex"), HasSubstr("ReadWriteLock"), HasSubstr(hold.node()), HasSubstr("a path of its own"));
  EXPECT_THAT(refusal_of([&] { static_cast<void>(semaphore.acquire()); }), names_both);
  EXPECT_THAT(refusal_of([&] { static_cast<void>(semaphore.acquire(2)); }), names_both);
  EXPECT_THAT(refusal_of([&] { static_cast<void>(semaphore.try_acquire()); }), names_both);
  PendingHold pending = semaphore.acquire_async();
  EXPECT_THAT(refusal_of([&] { static_cast<void>(this->get(pending)); }), names_both);
  EXPECT_TRUE(this->wait_for_children_of_path(1)) << "the node of the lock";
  EXPECT_TRUE(hold.is_valid());
  hold.release();
  other.acquire().release();
}

class MixedKinds : public RecipeTest {
 protected:
  std::string folder(const char* name) const { return std::string(kPath) + "/" + name; }
};

TEST_F(MixedKinds, ARecursiveLockAtASemaphoresPath_IsRefused) {
  Connection& connection = connect();
  Semaphore semaphore(connection, kPath, 1);
  RecursiveFairMutex mutex(connection, kPath);
  RecursiveReadWriteLock lock(connection, kPath);
  const Hold permit = semaphore.acquire();
  EXPECT_THAT(refusal_of([&] { mutex.lock(); }), HasSubstr("Semaphore"));
  EXPECT_THAT(refusal_of([&] { lock.lock(); }), HasSubstr("Semaphore"));
  EXPECT_THAT(refusal_of([&] { lock.lock_shared(); }), HasSubstr("Semaphore"));
}

TEST_F(MixedKinds, FoldersThatASemaphoreLeft_AreNamedAndOnceTheyAreDeletedThePathIsFree) {
  Connection& connection = connect();
  Semaphore(connection, kPath, 1).acquire().release();
  FairMutex mutex(connection, kPath);
  EXPECT_THAT(refusal_of([&] { mutex.lock(); }), AllOf(HasSubstr(folder("leases")), HasSubstr("delete")));
  remove_node(folder("leases"));
  mutex.lock();
  mutex.unlock();
}

TEST_F(MixedKinds, AFolderCalledLeasesWithThingsOfOthers_IsNoSemaphores) {
  create_node(folder("leases"), "an address for each name");
  create_node(folder("leases/10.0.0.7"));
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  ReadWriteLock lock(connection, kPath);
  EXPECT_TRUE(mutex.try_acquire());
  const Hold hold = mutex.acquire();
  EXPECT_FALSE(lock.try_acquire_read());
  // The folder is in nobody's way, but a semaphore still respects the mutex.
  Semaphore semaphore(connection, kPath, 5);
  EXPECT_THAT(refusal_of([&] { static_cast<void>(semaphore.acquire()); }), HasSubstr("FairMutex"));
  EXPECT_TRUE(hold.is_valid());
}

TEST_F(MixedKinds, ALockBelowWhoseFolderIsNamedLikeANode_IsNotInTheWayOfASemaphore) {
  Connection& connection = connect();
  FairMutex below(connection, folder("nightly-lock-1700000000"));
  const Hold hold = below.acquire();
  Semaphore semaphore(connection, kPath, 2);
  const Hold permits = semaphore.acquire(2);
  EXPECT_TRUE(permits.is_valid());
}

TEST_F(MixedKinds, ALockAtAPathThatEndsWithLeases_IsNotInTheWayOfTheLockAboveIt) {
  Connection& connection = connect();
  FairMutex above(connection, kPath);
  FairMutex below(connection, folder("leases"));
  Hold hold = below.acquire();
  above.acquire().release();
  hold.release();
  above.acquire().release();
  EXPECT_TRUE(above.try_acquire());
}

// As a semaphore leaves it that was killed before it had a lease there. The server never removes a container that never
// had a child.
TEST_F(MixedKinds, AnEmptyFolderThatNobodyHasMarked_IsInNobodysWay) {
  create_node(folder("leases"));
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  ReadWriteLock lock(connection, kPath);
  mutex.acquire().release();
  EXPECT_TRUE(mutex.try_acquire());
  EXPECT_TRUE(lock.try_acquire_read());
}

// It cannot know then whether it was the one that made the folder, and leaves it.
TEST_F(MixedKinds, ASemaphoreThatLosesTheReplyAboutItsFolder_DisturbsNoUserOfTheMutex) {
  Connection& sender = connect_by_proxy(6s);
  FairMutex mutex(connect(), kPath), other(connect(), kPath);
  Semaphore semaphore(sender, kPath, 1);
  ASSERT_TRUE(sender.wait_until_connected(10s));
  proxy().hold_reply(RequestKind::get_children, 5);  // its look at the path before it makes the folder
  PendingHold pending = semaphore.acquire_async();
  ASSERT_TRUE(proxy().wait_until_fired(10s));
  Hold hold = mutex.acquire();
  proxy().drop_reply(RequestKind::create);
  proxy().release_held();
  EXPECT_THAT(refusal_of([&] { static_cast<void>(get(pending)); }), HasSubstr("FairMutex"));
  ASSERT_TRUE(node_exists(folder("leases"))) << "it has made the folder, and lost the reply";
  PendingHold waiting = other.acquire_async();
  ASSERT_TRUE(wait_for_nodes(kPath, 2));
  hold.release();
  get(waiting).release();
  mutex.acquire().release();
}

TEST_F(MixedKinds, AFolderThatMayNotBeListed_IsNamedWithThePermissionThatIsMissing) {
  create_node(kPath);
  ConnectionOptions hides = options();
  hides.parent_acl = Acl({{Acl::kAll & ~Acl::kRead, "world", "anyone"}});
  Connection& connection = connect(hides);
  FairMutex below(connection, folder("leases")), mutex(connection, kPath);
  EXPECT_THROW(below.lock(), NotAuthorized) << "it has made the folder, and may not read it";
  EXPECT_THAT(refusal_of([&] { mutex.lock(); }),
              AllOf(HasSubstr(folder("leases")), HasSubstr("may not be listed"), HasSubstr("permission to read")));
  // The end of the test lists what is left.
  ASSERT_TRUE(wait_for([&] { return plain().stat(full(folder("leases")))->numChildren == 0; }));
  remove_node(folder("leases"));
}

// A semaphore that was killed in the middle of its first acquire has left its folder, and a mutex that began before
// that has not seen it. The next semaphore finds the folder in place, and must look all the same.
TEST_F(MixedKinds, AFolderThatNobodyHasMarked_IsNotTakenForProof) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  Semaphore semaphore(connection, kPath, 1);
  Hold hold = mutex.acquire();
  create_node(folder("leases"));
  create_node(folder("locks"));
  EXPECT_THAT(refusal_of([&] { static_cast<void>(semaphore.acquire()); }), HasSubstr("FairMutex"));
  EXPECT_EQ(children(kPath).size(), 3U) << "the folders, which it has not made, and the node of the mutex";
  hold.release();
  semaphore.acquire().release();
}

TEST_F(MixedKinds, ACounterOfHolds_IsNotLostToASemaphoreThatIsRefused) {
  Connection& connection = connect();
  LockOptions counts;
  counts.version_token = true;
  FairMutex below(connection, folder("locks"), counts), mutex(connection, kPath);
  below.acquire().release();
  const Hold hold = mutex.acquire();
  create_node(folder("leases"));
  Semaphore semaphore(connection, kPath, 1);
  EXPECT_THAT(refusal_of([&] { static_cast<void>(semaphore.acquire()); }), HasSubstr("FairMutex"));
  ASSERT_TRUE(wait_for_nodes(kPath, 1)) << "its place in line is gone, and with it all that it removes";
  EXPECT_EQ(below.acquire().token().version, 2);
}

TEST_F(MixedKinds, TheFirstAcquireMarksTheFolderAndTheNextOnesCostWhatTheyDid) {
  Connection& connection = connect();
  Semaphore semaphore(connection, kPath, 3);
  const Hold first = semaphore.acquire();
  EXPECT_TRUE(wait_for([&] { return plain().stat(full(folder("leases")))->version == 2; }));
  const Hold second = semaphore.acquire();
  EXPECT_GE(first.cost().requests, 7) << "looks, marks, and counts again";
  EXPECT_EQ(second.cost().requests, 4) << "create and list, twice";
  FairMutex mutex(connection, "/mutex");
  mutex.acquire().release();
  EXPECT_EQ(mutex.acquire().cost().requests, 2);
}

// As made by Curator, which marks nothing.
TEST_F(MixedKinds, AFolderOfAnotherLibrary_IsMarkedByTheFirstOfUs) {
  create_node(folder("leases"));
  Semaphore semaphore(connect(), kPath, 1);
  semaphore.acquire().release();
  EXPECT_TRUE(wait_for([&] { return plain().stat(full(folder("leases")))->version == 2; }));
  EXPECT_EQ(semaphore.acquire().cost().requests, 4);
}

// Everybody looks each time, and respects another lock.
TEST_F(MixedKinds, AFolderWithDataOfOthers_IsNotMarked) {
  const std::string note = "of team x, do not delete";
  create_node(folder("leases"), note);
  Connection& connection = connect();
  Semaphore semaphore(connection, kPath, 1);
  semaphore.acquire().release();
  EXPECT_EQ(semaphore.acquire().cost().requests, 6) << "looks, and counts again";
  EXPECT_EQ(plain().data(full(folder("leases"))), note);
  plain().set(full(folder("leases")), "of team y");
  EXPECT_EQ(semaphore.acquire().cost().requests, 6) << "a new version of the data is no mark either";
}

// By then the folder may be another one, beside which a mutex holds.
TEST_F(MixedKinds, AMarkWhoseFateIsNotKnown_IsNotRepeated) {
  Semaphore semaphore(connect_by_proxy(6s), kPath, 1);
  proxy().cut_before_request(RequestKind::set_data);
  const Hold hold = semaphore.acquire();
  EXPECT_EQ(proxy().armed(), 0);
  const auto is_marked = [&] { return plain().stat(full(folder("leases")))->version > 0; };
  EXPECT_FALSE(wait_for(is_marked, 5 * kMoment));
}

// Without permission to mark it looks each time.
TEST_F(MixedKinds, AFolderThatMayNotBeWritten_IsUsedAllTheSame) {
  ConnectionOptions no_writes = options();
  no_writes.parent_acl = Acl({{Acl::kAll & ~Acl::kWrite, "world", "anyone"}});
  Semaphore semaphore(connect(no_writes), kPath, 1);
  for (int round = 0; round < 3; ++round) semaphore.acquire().release();
  EXPECT_EQ(plain().stat(full(folder("leases")))->version, 0);
}

/// What became of a contender.
struct Outcome {
  Hold hold;
  bool refused = false;
};
Outcome outcome_of(const std::function<Hold()>& acquire) {
  Outcome outcome;
  outcome.refused = !refusal_of([&] { outcome.hold = acquire(); }).empty();
  return outcome;
}

// Both begin at the same time, on a path that nobody has used.
TEST_F(MixedKinds, OfTwoThatRace_AtMostOneHolds) {
  Connection& one = connect();
  Connection& another = connect();
  int mutexes = 0, semaphores = 0, neither = 0;
  for (int round = 0; round < 60; ++round) {
    const std::string path = "/race/" + std::to_string(round);
    FairMutex mutex(one, path);
    Semaphore semaphore(another, path, 2), late(one, path, 2);
    create_node(path);  // else one of the two makes it, which takes long enough for the other to win
    std::promise<void> begin;
    const std::shared_future<void> begun = begin.get_future().share();
    auto locking = std::async(std::launch::async, [&] {
      begun.wait();
      return outcome_of([&] { return mutex.acquire(); });
    });
    auto counting = std::async(std::launch::async, [&] {
      begun.wait();
      return outcome_of([&] { return semaphore.acquire(1 + round % 2); });
    });
    begin.set_value();
    const Outcome locked = locking.get(), counted = counting.get();
    ASSERT_TRUE(locked.refused || counted.refused) << "both hold in round " << round;
    mutexes += locked.hold ? 1 : 0;
    semaphores += counted.hold ? 1 : 0;
    neither += locked.refused && counted.refused ? 1 : 0;
    // Whoever holds keeps the other kind away.
    if (locked.hold) {
      EXPECT_TRUE(outcome_of([&] { return late.acquire(); }).refused) << round;
    }
    if (counted.hold) {
      EXPECT_TRUE(outcome_of([&] { return mutex.acquire(); }).refused) << round;
    }
  }
  RecordProperty("mutexes", mutexes);
  RecordProperty("semaphores", semaphores);
  RecordProperty("neither", neither);
  EXPECT_EQ(mutexes + semaphores + neither, 60);
}

// The folder would keep the users of the mutex from theirs until the server removes it.
TEST_F(MixedKinds, ASemaphoreOfManyPermitsThatLosesTheRace_LeavesNoFolderOfLeases) {
  constexpr int kPermits = 16;
  Connection& one = connect();
  Connection& another = connect();
  int refused = 0;
  for (int round = 0; round < 200; ++round) {
    const std::string path = "/race/" + std::to_string(round);
    FairMutex mutex(one, path);
    Semaphore semaphore(another, path, kPermits);
    auto locking = std::async(std::launch::async, [&] {
      // A different delay each time, so that the mutex meets each step of the semaphore.
      std::this_thread::sleep_for(std::chrono::microseconds(100) * (round % 40));
      return outcome_of([&] { return mutex.acquire(); });
    });
    const Outcome counted = outcome_of([&] { return semaphore.acquire(kPermits); });
    Outcome locked = locking.get();
    ASSERT_TRUE(locked.refused || counted.refused) << "both hold in round " << round;
    if (!counted.refused) continue;
    ++refused;
    ASSERT_TRUE(wait_for_waiters(another, 0)) << "what it has made is removed";
    ASSERT_FALSE(plain().stat(full(path + "/leases"))) << "in round " << round;
    locked.hold = {};
    ASSERT_EQ(refusal_of([&] { mutex.acquire().release(); }), "");
  }
  RecordProperty("refused", refused);
  EXPECT_GT(refused, 0);
}

// ---- Mutex and read/write lock ----

TEST_F(MixedKinds, AMutexCountsAsAWriter) {
  FairMutex mutex(connect(), kPath);
  ReadWriteLock both(connect(), kPath);
  {
    const Hold hold = mutex.acquire();
    EXPECT_FALSE(both.try_acquire_read());
    EXPECT_FALSE(both.try_acquire_write());
  }
  for (const bool write : {false, true}) {
    const Hold hold = write ? both.acquire_write() : both.acquire_read();
    EXPECT_FALSE(mutex.try_acquire());
    PendingHold waiting = mutex.acquire_async();
    EXPECT_TRUE(wait_for_children(kPath, 2));
    EXPECT_FALSE(waiting.ready());
  }
}

// ---- SimpleLock ----

TEST_F(MixedKinds, ASimpleLockAtAFairLocksPath_IsRefusedInWords) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  SimpleLock simple(connection, kPath);
  const Hold hold = mutex.acquire();
  const auto in_words =
      AllOf(HasSubstr(kPath), HasSubstr("FairMutex"), HasSubstr("SimpleLock needs a path of its own"));
  EXPECT_THAT(refusal_of([&] { simple.lock(); }), in_words);
  EXPECT_THAT(refusal_of([&] { static_cast<void>(simple.try_lock()); }), in_words);
  EXPECT_TRUE(hold.is_valid());
}

TEST_F(MixedKinds, AFairLockAtASimpleLocksNode_IsRefusedInWords) {
  Connection& connection = connect();
  SimpleLock simple(connection, kPath);
  FairMutex mutex(connection, kPath);
  Semaphore semaphore(connection, kPath, 1);
  const Hold hold = simple.acquire();
  const auto in_words = AllOf(HasSubstr(kPath), HasSubstr("SimpleLock needs a path of its own"));
  EXPECT_THAT(refusal_of([&] { mutex.lock(); }), in_words);
  EXPECT_THAT(refusal_of([&] { static_cast<void>(mutex.try_lock()); }), in_words);
  EXPECT_THAT(refusal_of([&] { static_cast<void>(semaphore.acquire()); }), in_words);
  EXPECT_TRUE(hold.is_valid());
}

}  // namespace
}  // namespace zkrecipes::testing

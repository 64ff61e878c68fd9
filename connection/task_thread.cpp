// SPDX-License-Identifier: Apache-2.0
#include "connection/task_thread.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "connection/fork_guard.h"
#include "connection/guarded_call.h"
#include "connection/mutex.h"
#include "connection/thread_role.h"

namespace zkrecipes::detail {

namespace {
thread_local const void* current = nullptr;  // whose thread this is
// How often it is tried again to start a thread.
constexpr std::chrono::milliseconds kStartAgain{100};
}  // namespace

struct TaskThread::Shared {
  explicit Shared(std::string thread_name) : name(std::move(thread_name)), name_of_tasks("a task on thread " + name) {}

  const std::string name;
  const std::string name_of_tasks;  // in the log
  const ForkGuard fork_guard;
  Mutex mutex;
  Condition wake;
  Condition idle;
  std::deque<std::function<void()>> tasks ZKR_GUARDED_BY(mutex);
  std::multimap<Clock::time_point, std::function<void()>> timed ZKR_GUARDED_BY(mutex);
  std::thread thread ZKR_GUARDED_BY(mutex);
  std::uint64_t posted ZKR_GUARDED_BY(mutex) = 0;
  bool alive ZKR_GUARDED_BY(mutex) = false;    // a thread looks after the tasks
  bool running ZKR_GUARDED_BY(mutex) = false;  // a task, now
  bool draining ZKR_GUARDED_BY(mutex) = false;
  bool finishing ZKR_GUARDED_BY(mutex) = false;  // the thread ends when it has nothing to do
  bool stopping ZKR_GUARDED_BY(mutex) = false;
};

/// The lanes that have tasks and no thread. Thread-safe. The child of a fork begins with none: the mutex may have been
/// held at that moment, and the parent's tasks are not the child's.
class TaskThread::Stuck {
 public:
  static Stuck& here() {
    static std::atomic<Stuck*> known{new Stuck};  // never destroyed: threads may outlive main()
    Stuck* stuck = known.load();
    if (stuck->process_.in_child()) {
      auto own = std::make_unique<Stuck>();
      if (known.compare_exchange_strong(stuck, own.get())) stuck = own.release();
    }
    return *stuck;
  }

  bool any() const noexcept { return any_.load(); }
  void add(const std::shared_ptr<Shared>& shared) {
    MutexLock lock(mutex_);
    lanes_.push_back(shared);
    any_.store(true);
  }
  void start() {
    std::vector<std::weak_ptr<Shared>> lanes;
    {
      MutexLock lock(mutex_);
      lanes.swap(lanes_);
      any_.store(false);
    }
    for (const auto& weak : lanes) {
      const auto shared = weak.lock();
      if (shared && !started(shared)) add(shared);
    }
  }

 private:
  static bool started(const std::shared_ptr<Shared>& shared) {
    MutexLock lock(shared->mutex);
    if (shared->stopping || shared->tasks.empty()) return true;
    try {
      start_thread(shared);
    } catch (const std::system_error&) {
      return false;
    }
    return true;
  }

  const ForkGuard process_;
  std::atomic<bool> any_{false};
  Mutex mutex_;
  std::vector<std::weak_ptr<Shared>> lanes_ ZKR_GUARDED_BY(mutex_);
};

TaskThread::TaskThread(std::string name) : shared_(std::make_shared<Shared>(std::move(name))) {}

TaskThread::~TaskThread() {
  if (shared_->fork_guard.in_child()) {
    // The thread does not exist here; its std::thread must not be destroyed, nor may its mutex be trusted.
    static_cast<void>(new std::shared_ptr<Shared>(shared_));
    return;
  }
  stop_thread(Rest::drop);
}

void TaskThread::post(std::function<void()> task) {
  MutexLock lock(shared_->mutex);
  if (shared_->stopping) return;
  shared_->tasks.push_back(std::move(task));
  ++shared_->posted;
  if (shared_->alive) return shared_->wake.notify_one();
  std::string problem;
  try {
    return start_thread(shared_);
  } catch (const std::system_error& error) {
    problem = error.what();
  }
  const bool first = shared_->tasks.size() == 1;
  lock.unlock();
  if (!first) return;
  Stuck::here().add(shared_);
  process_log().error("thread " + shared_->name + " cannot be started, which is tried again: " + problem);
}

void TaskThread::start() {
  MutexLock lock(shared_->mutex);
  // One that is finishing would end at once.
  if (!shared_->stopping && !shared_->finishing) start_thread(shared_);
}

void TaskThread::start_thread(const std::shared_ptr<Shared>& shared) {
  if (shared->alive) return;
  // One that has ended by itself is past its last task and is not waited for.
  if (shared->thread.joinable()) shared->thread.detach();
  shared->thread = std::thread([shared] { run(shared); });
  shared->alive = true;
}

void TaskThread::post_at(Clock::time_point time, std::function<void()> task) {
  // Through the task queue: only the thread itself touches the timers, and a first timer starts the thread.
  post([shared = shared_.get(), time, task = std::move(task)]() mutable {
    MutexLock lock(shared->mutex);
    shared->timed.emplace(time, std::move(task));
  });
}

bool TaskThread::on_this_thread() const noexcept {
  return current == shared_.get();
}

void TaskThread::drain() {
  run_without_thread(*shared_);
  MutexLock lock(shared_->mutex);
  shared_->draining = true;
  shared_->wake.notify_one();
  while (shared_->alive && (!shared_->tasks.empty() || !shared_->timed.empty() || shared_->running))
    shared_->idle.wait(lock);
  shared_->draining = false;
}

void TaskThread::finish_soon() {
  MutexLock lock(shared_->mutex);
  shared_->finishing = true;
  shared_->wake.notify_one();
}

void TaskThread::finish() {
  finish_soon();
  if (on_this_thread()) return;
  run_without_thread(*shared_);
  std::thread thread;
  {
    MutexLock lock(shared_->mutex);
    while (shared_->alive) shared_->idle.wait(lock);
    thread = std::move(shared_->thread);
  }
  if (thread.joinable()) thread.join();
}

std::uint64_t TaskThread::posted() const {
  MutexLock lock(shared_->mutex);
  return shared_->posted;
}

void TaskThread::stop(Rest rest) {
  stop_thread(rest);
}

void TaskThread::stop_thread(Rest rest) {
  if (rest == Rest::run) run_without_thread(*shared_);
  std::deque<std::function<void()>> dropped;
  std::thread thread;
  {
    MutexLock lock(shared_->mutex);
    shared_->stopping = true;
    if (rest != Rest::run) dropped.swap(shared_->tasks);
    thread = std::move(shared_->thread);
    shared_->wake.notify_one();
  }
  if (!thread.joinable()) return;
  if (rest == Rest::abandon || thread.get_id() == std::this_thread::get_id())
    thread.detach();
  else
    thread.join();
}

/// Runs the tasks on this thread if there is none for them, which is the last chance that they have.
void TaskThread::run_without_thread(Shared& shared) {
  MutexLock lock(shared.mutex);
  if (shared.alive || shared.stopping || shared.tasks.empty()) return;
  const void* const before = std::exchange(current, &shared);
  shared.alive = true;  // so that nobody else looks after them
  while (!shared.tasks.empty()) {
    auto task = std::move(shared.tasks.front());
    shared.tasks.pop_front();
    lock.unlock();
    call_guarded(process_log(), shared.name_of_tasks.c_str(), task);
    task = nullptr;
    lock.lock();
  }
  shared.alive = false;
  current = before;
  shared.idle.notify_all();
}

void TaskThread::run(const std::shared_ptr<Shared>& shared) {
  current = shared.get();
  const ThreadRole role(ThreadRole::Role::library);  // a CallbackLane lends it to the program
  pthread_setname_np(pthread_self(), shared->name.c_str());
  MutexLock lock(shared->mutex);
  for (;;) {
    const auto now = Clock::now();
    while (!shared->timed.empty() && !shared->stopping && (shared->draining || shared->timed.begin()->first <= now)) {
      shared->tasks.push_back(std::move(shared->timed.begin()->second));
      shared->timed.erase(shared->timed.begin());
    }
    if (!shared->tasks.empty()) {
      auto task = std::move(shared->tasks.front());
      shared->tasks.pop_front();
      shared->running = true;
      lock.unlock();
      call_guarded(process_log(), shared->name_of_tasks.c_str(), task);
      task = nullptr;  // destroyed without the lock: it may own the last reference to something that posts
      lock.lock();
      shared->running = false;
      continue;
    }
    shared->idle.notify_all();
    if (shared->stopping || (shared->finishing && shared->timed.empty())) break;
    const bool others_stuck = Stuck::here().any();
    auto until = shared->timed.empty() ? Clock::time_point::max() : shared->timed.begin()->first;
    if (others_stuck) until = std::min<Clock::time_point>(until, now + kStartAgain);
    if (until == Clock::time_point::max())
      shared->wake.wait(lock);
    else
      shared->wake.wait_until(lock, until);
    if (!others_stuck) continue;
    lock.unlock();
    Stuck::here().start();
    lock.lock();
  }
  auto timers = std::move(shared->timed);
  shared->alive = false;
  shared->idle.notify_all();
  lock.unlock();
}

}  // namespace zkrecipes::detail

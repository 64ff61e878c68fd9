// SPDX-License-Identifier: Apache-2.0
/// @file
/// Locks for programs built on Boost.Asio 1.74 or newer. Optional: no other header includes this one, and the library
/// does not link Asio.
///
///     boost::asio::awaitable<void> serve(zkrecipes::FairMutex& mutex) {
///       zkrecipes::Hold hold = co_await zkrecipes::async_acquire(mutex, {}, boost::asio::use_awaitable);
///       write(hold.token());
///     }
///
/// Completion: void(std::exception_ptr, Hold). The pointer is null with a hold; else it is what AcquireResult::value()
/// throws: Cancelled, Error, ConnectionClosed, or what acquire_async() has thrown.
///
/// Threads: the completion is posted to the handler's associated executor, never called inside the initiating call and
/// never on a thread of the library. A handler without an executor (a bare lambda) runs on a thread of Asio's system
/// executor; boost::asio::bind_executor() gives it another one. The operation counts as work of the executor until
/// then.
///
/// Ending a wait: AcquireOptions has a deadline and a StopToken. From Boost 1.77 on the handler's cancellation slot
/// works, too: each type of cancellation leaves the queue and completes with Cancelled.
///
/// Lifetime: an execution context that is destroyed, or shut down, takes its operations along: they leave the queue,
/// and the handlers are destroyed without being called. (Operations on an executor that has no execution context last
/// until the acquire ends, at the latest when the connection is closed.)
#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/version.hpp>
#include <boost/intrusive/list.hpp>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#if BOOST_ASIO_VERSION >= 101900
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>
#endif

#include "zkrecipes/acquire_options.h"
#include "zkrecipes/acquire_result.h"
#include "zkrecipes/hold.h"
#include "zkrecipes/pending_hold.h"

namespace zkrecipes {

namespace detail {

/// An operation that has not called its handler yet.
class AsioWait : public boost::intrusive::list_base_hook<> {
 public:
  AsioWait() = default;
  virtual ~AsioWait() = default;
  AsioWait(const AsioWait&) = delete;
  AsioWait& operator=(const AsioWait&) = delete;
  /// Leaves the queue and destroys the handler, and may destroy this object.
  virtual void abandon() noexcept = 0;
};

/// The operations of one execution context. Completions come from threads of the library, and the context may be
/// destroyed at the same time: shut_down() waits for those that have begun, and stops the others from beginning.
class AsioWaits {
 public:
  bool add(AsioWait& wait) {  ///< false after shut_down()
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_down_) return false;
    waits_.push_back(wait);
    return true;
  }
  bool begin_completion(AsioWait& wait) {  ///< false when it is abandoned; else end_completion() has to follow
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!wait.is_linked()) return false;
    waits_.erase(waits_.iterator_to(wait));
    ++completing_;
    return true;
  }
  void end_completion() {
    const std::lock_guard<std::mutex> lock(mutex_);
    --completing_;
    changed_.notify_all();
  }
  void shut_down() noexcept {
    std::unique_lock<std::mutex> lock(mutex_);
    is_down_ = true;
    while (!waits_.empty()) {
      AsioWait& wait = waits_.front();
      waits_.pop_front();
      lock.unlock();
      wait.abandon();
      lock.lock();
    }
    while (completing_ > 0) changed_.wait(lock);
  }

 private:
  std::mutex mutex_;
  // guarded by mutex_
  std::condition_variable changed_;
  boost::intrusive::list<AsioWait> waits_;
  int completing_ = 0;
  bool is_down_ = false;
};

class AsioService : public boost::asio::execution_context::service {
 public:
  using key_type = AsioService;
  inline static boost::asio::execution_context::id id;
  explicit AsioService(boost::asio::execution_context& context) : service(context) {}
  /// A service that is made while the context is shut down already gets no call of shutdown().
  ~AsioService() override { waits_->shut_down(); }
  const std::shared_ptr<AsioWaits>& waits() const noexcept { return waits_; }

 private:
  void shutdown() noexcept override { waits_->shut_down(); }
  // Shared with the operations: a completion may still be leaving a function of it when the context is destroyed.
  const std::shared_ptr<AsioWaits> waits_ = std::make_shared<AsioWaits>();
};

template <class Executor, class = void>
struct HasContextMember : std::false_type {};
template <class Executor>
struct HasContextMember<Executor, std::void_t<decltype(std::declval<const Executor&>().context())>> : std::true_type {};

/// Null for an executor without an execution context.
template <class Executor>
std::shared_ptr<AsioWaits> asio_waits_of(const Executor& executor) {
  boost::asio::execution_context* context = nullptr;
  if constexpr (boost::asio::can_query<const Executor&, boost::asio::execution::context_t>::value)
    context = std::addressof(boost::asio::query(executor, boost::asio::execution::context));
  else if constexpr (HasContextMember<Executor>::value)
    context = std::addressof(executor.context());
  if (context == nullptr) return nullptr;
  return boost::asio::use_service<AsioService>(*context).waits();
}

template <class Handler>
struct AsioCompletion {
  Handler handler;
  std::exception_ptr error;
  Hold hold;

  void operator()() {
#if BOOST_ASIO_VERSION >= 101900
    auto slot = boost::asio::get_associated_cancellation_slot(handler);
    if (slot.is_connected()) slot.clear();
#endif
    std::move(handler)(std::move(error), std::move(hold));
  }
};

template <class Handler>
class AsioWaitWith final : public AsioWait {
 public:
  explicit AsioWaitWith(Handler handler) : handler_(std::move(handler)), work_(executor()) {
    waits_ = asio_waits_of(work_->get_executor());
  }

  /// `begin` gives the PendingHold.
  template <class Begin>
  static void start(Handler handler, Begin begin) {
    const auto wait = std::make_shared<AsioWaitWith>(std::move(handler));
    if (wait->waits_ && !wait->waits_->add(*wait)) return;
    wait->self_ = wait;
    try {
      wait->pending_ = begin();
      wait->listen_to_slot();
      // A bare pointer, for which std::function needs no memory: the end of pending_ waits for the callback.
      wait->pending_.on_ready([raw = wait.get()](AcquireResult result) { raw->complete(std::move(result)); });
    } catch (...) {
      wait->complete(std::current_exception(), Hold());
    }
  }

  void abandon() noexcept override {
    const auto self = std::move(self_);
    pending_ = PendingHold();  // the callback is not running from here on
    handler_.reset();
    work_.reset();
  }

 private:
  // Named, because the default of newer versions of Asio runs handlers at once, on a thread of the library.
  using DefaultExecutor = boost::asio::system_executor;
  using Executor = typename boost::asio::associated_executor<Handler, DefaultExecutor>::type;
  using Work = boost::asio::executor_work_guard<Executor>;

  Executor executor() const { return boost::asio::get_associated_executor(*handler_, DefaultExecutor()); }

  void listen_to_slot() {
#if BOOST_ASIO_VERSION >= 101900
    auto slot = boost::asio::get_associated_cancellation_slot(*handler_);
    if (!slot.is_connected()) return;
    slot.assign([wait = self_](boost::asio::cancellation_type type) {
      if (type != boost::asio::cancellation_type::none) wait->pending_.cancel();
    });
#endif
  }

  void complete(AcquireResult result) {
    std::exception_ptr error;
    Hold hold;
    try {
      hold = std::move(result).value();
    } catch (...) {
      error = std::current_exception();
    }
    complete(std::move(error), std::move(hold));
  }

  void complete(std::exception_ptr error, Hold hold) {
    if (waits_ && !waits_->begin_completion(*this)) return;
    // The context may be destroyed as soon as the completion has ended, and this object lives longer: nothing that
    // knows the context may stay in it.
    const auto self = std::move(self_);
    const Completing completing{waits_.get()};
    AsioCompletion<Handler> completion{std::move(*handler_), std::move(error), std::move(hold)};
    handler_.reset();
    const Work work(std::move(*work_));
    work_.reset();
    boost::asio::post(work.get_executor(), std::move(completion));
  }

  struct Completing {
    AsioWaits* waits;
    ~Completing() {
      if (waits != nullptr) waits->end_completion();
    }
  };

  std::optional<Handler> handler_;
  std::optional<Work> work_;
  std::shared_ptr<AsioWaits> waits_;
  std::shared_ptr<AsioWaitWith> self_;  // until it completes or is abandoned
  PendingHold pending_;
};

struct InitiateAsioWait {
  template <class Handler>
  void operator()(Handler&& handler, PendingHold pending) const {
    AsioWaitWith<std::decay_t<Handler>>::start(std::forward<Handler>(handler), [&] { return std::move(pending); });
  }
};

struct InitiateAsioAcquire {
  template <class Handler, class Lock>
  void operator()(Handler&& handler, Lock* lock, const AcquireOptions& options) const {
    AsioWaitWith<std::decay_t<Handler>>::start(std::forward<Handler>(handler),
                                               [&] { return lock->acquire_async(options); });
  }
};

}  // namespace detail

/// Waits for an acquire that is under way, of whichever lock: the sides of a ReadWriteLock, several permits of a
/// Semaphore.
///
///     zkrecipes::async_wait(semaphore.acquire_async(), boost::asio::bind_executor(io, [](auto error, zkrecipes::Hold)
///     {}));
template <class CompletionToken>
auto async_wait(PendingHold pending, CompletionToken&& token) {
  return boost::asio::async_initiate<CompletionToken, void(std::exception_ptr, Hold)>(detail::InitiateAsioWait(), token,
                                                                                      std::move(pending));
}

/// Waits for a lock that has acquire_async(AcquireOptions). The acquire begins when the operation is initiated, which
/// is later than this call for tokens such as use_awaitable; the lock has to live until then, and no longer.
template <class Lock, class CompletionToken>
auto async_acquire(Lock& lock, AcquireOptions options, CompletionToken&& token) {
  return boost::asio::async_initiate<CompletionToken, void(std::exception_ptr, Hold)>(
      detail::InitiateAsioAcquire(), token, std::addressof(lock), std::move(options));
}

}  // namespace zkrecipes

#if BOOST_ASIO_VERSION < 102400
// Before Boost 1.80 the yield_context of boost::asio::spawn() knows no exceptions as results. It is made to return
// both, and to throw in the coroutine.
namespace boost::asio {

template <typename Handler>
class basic_yield_context;

template <typename Handler>
class async_result<basic_yield_context<Handler>, void(std::exception_ptr, zkrecipes::Hold)> {
  using Both = std::pair<std::exception_ptr, zkrecipes::Hold>;
  using Result = async_result<basic_yield_context<Handler>, void(Both)>;
  using Resume = typename Result::completion_handler_type;

 public:
  using return_type = zkrecipes::Hold;

  struct completion_handler_type {  // NOLINT(readability-identifier-naming): Asio's name
    using executor_type = typename associated_executor<Resume>::type;
    explicit completion_handler_type(const basic_yield_context<Handler>& context) : resume(context) {}
    executor_type get_executor() const noexcept { return get_associated_executor(resume); }
    void operator()(std::exception_ptr error, zkrecipes::Hold hold) { resume(Both(std::move(error), std::move(hold))); }
    Resume resume;
  };

  explicit async_result(completion_handler_type& handler) : result_(handler.resume) {}
  return_type get() {
    Both both = result_.get();
    if (both.first) std::rethrow_exception(both.first);
    return std::move(both.second);
  }

 private:
  Result result_;
};

}  // namespace boost::asio
#endif

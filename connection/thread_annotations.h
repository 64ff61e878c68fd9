// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which mutex guards what, in a form that clang checks (-Wthread-safety, an error in the preset "clang"). The macros
// are empty for other compilers. They work with the mutexes of connection/mutex.h: those of the standard library and of
// Boost are not annotated.
//
//   Mutex mutex_;
//   int count_ ZKR_GUARDED_BY(mutex_) = 0;
//   void count_one() ZKR_REQUIRES(mutex_);   // the caller holds mutex_
//
// The check does not look into lambdas: one that runs while the mutex is held says so itself,
// "[this]() ZKR_REQUIRES(mutex_) { ... }". Constructors and destructors are not checked.
#if defined(__clang__)
#define ZKR_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define ZKR_THREAD_ANNOTATION(x)
#endif

// Members. PT_: not the pointer itself is guarded but the object that it points to.
#define ZKR_GUARDED_BY(mutex) ZKR_THREAD_ANNOTATION(guarded_by(mutex))
#define ZKR_PT_GUARDED_BY(mutex) ZKR_THREAD_ANNOTATION(pt_guarded_by(mutex))

// Functions: the caller holds the mutex, or must not hold it.
#define ZKR_REQUIRES(...) ZKR_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define ZKR_EXCLUDES(...) ZKR_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

// Functions that lock or unlock the mutex; without an argument, the object itself.
#define ZKR_ACQUIRE(...) ZKR_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define ZKR_ACQUIRE_SHARED(...) ZKR_THREAD_ANNOTATION(acquire_shared_capability(__VA_ARGS__))
#define ZKR_RELEASE(...) ZKR_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define ZKR_RELEASE_GENERIC(...) ZKR_THREAD_ANNOTATION(release_generic_capability(__VA_ARGS__))

// Classes: mutexes, and objects that hold one as long as they live.
#define ZKR_CAPABILITY(name) ZKR_THREAD_ANNOTATION(capability(name))
#define ZKR_SCOPED_CAPABILITY ZKR_THREAD_ANNOTATION(scoped_lockable)

// Functions that the check must leave out; each use says why.
#define ZKR_NO_THREAD_SAFETY_ANALYSIS ZKR_THREAD_ANNOTATION(no_thread_safety_analysis)

# SPDX-License-Identifier: Apache-2.0

# Sets, from ZKRECIPES_SANITIZE:
#   ZKRECIPES_SANITIZE_FLAGS     compile and link flags, also for the consumers that tests/package builds
#   ZKRECIPES_TEST_LAUNCHER      command in front of each test program, may be empty
#   ZKRECIPES_TEST_ENVIRONMENT   environment of each test program
set(ZKRECIPES_SANITIZE_FLAGS)
set(ZKRECIPES_TEST_LAUNCHER)
set(ZKRECIPES_TEST_ENVIRONMENT)
if(NOT ZKRECIPES_SANITIZE)
  return()
endif()

set(ZKRECIPES_SANITIZE_FLAGS
  -fsanitize=${ZKRECIPES_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
# For the directory, not per target: one translation unit without instrumentation makes the reports of all others wrong.
add_compile_options(${ZKRECIPES_SANITIZE_FLAGS})
add_link_options(${ZKRECIPES_SANITIZE_FLAGS})

set(suppressions "${PROJECT_SOURCE_DIR}/tests/sanitizers")
if(ZKRECIPES_SANITIZE MATCHES "thread")
  # GCC's ThreadSanitizer does not know fences and says so (-Wtsan, here an error). Asio puts some around handlers, and
  # needs none in our programs: the mutex of its queue orders what handlers do.
  add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
  set(ZKRECIPES_TEST_ENVIRONMENT
    "TSAN_OPTIONS=suppressions=${suppressions}/tsan.supp:second_deadlock_stack=1:halt_on_error=0")
  # With many bits of address randomisation the kernel maps libraries where TSan keeps its shadow memory, and the program
  # ends before main(). Containers may forbid switching it off, hence the trial.
  find_program(ZKRECIPES_SETARCH setarch)
  mark_as_advanced(ZKRECIPES_SETARCH)
  if(ZKRECIPES_SETARCH)
    execute_process(COMMAND "${ZKRECIPES_SETARCH}" -R true RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
    if(result EQUAL 0)
      set(ZKRECIPES_TEST_LAUNCHER "${ZKRECIPES_SETARCH}" -R)
    endif()
  endif()
else()
  set(ZKRECIPES_TEST_ENVIRONMENT
    "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1"
    "UBSAN_OPTIONS=print_stacktrace=1"
    "LSAN_OPTIONS=suppressions=${suppressions}/lsan.supp:print_suppressions=0")
endif()

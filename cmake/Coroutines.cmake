# SPDX-License-Identifier: Apache-2.0

# The library needs no coroutines; examples and tests of some headers do. To be included when Boost was found. Sets
#   ZKRECIPES_HAS_COROUTINES        whether the compiler and its standard library have those of C++20
#   ZKRECIPES_HAS_ASIO_COROUTINES   whether Boost.Asio has coroutines of its own with this compiler; that of Boost 1.74 has
#                                   none with clang
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS "${CMAKE_CXX20_STANDARD_COMPILE_OPTION}")
set(CMAKE_REQUIRED_LIBRARIES Boost::headers Threads::Threads)
check_cxx_source_compiles(
  "#include <coroutine>
   #if !defined(__cpp_impl_coroutine) || !defined(__cpp_lib_coroutine)
   #error none
   #endif
   int main() { return std::suspend_never().await_ready() ? 0 : 1; }"
  ZKRECIPES_HAS_COROUTINES)
check_cxx_source_compiles(
  "#include <utility>
   #include <boost/asio/awaitable.hpp>
   int main() { return sizeof(boost::asio::awaitable<void>) == 0; }"
  ZKRECIPES_HAS_ASIO_COROUTINES)
unset(CMAKE_REQUIRED_FLAGS)
unset(CMAKE_REQUIRED_LIBRARIES)

# zkrecipes_use_coroutines(<target>): compiles it as C++20. What was precompiled for C++17 is of no use to it then.
function(zkrecipes_use_coroutines target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
endfunction()

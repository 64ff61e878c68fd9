# SPDX-License-Identifier: Apache-2.0

# The Debian packages that cpack makes of the preset "deb". docs/packaging.md says what is in each.
if(NOT BUILD_SHARED_LIBS)
  return()
endif()

set(ZKRECIPES_DEB_MAINTAINER "zkrecipes maintainers <maintainers@zkrecipes.invalid>" CACHE STRING
  "Maintainer of the Debian packages")
set(ZKRECIPES_DEB_REVISION "1" CACHE STRING "Revision of the Debian packages, after the version")
mark_as_advanced(ZKRECIPES_DEB_MAINTAINER ZKRECIPES_DEB_REVISION)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME zkrecipes)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "${ZKRECIPES_DEB_MAINTAINER}")
# Empty, so that each package begins its description with a summary of its own.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL zkrecipes_runtime zkrecipes_development)
if(TARGET zklock)
  list(APPEND CPACK_COMPONENTS_ALL zklock)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE "${ZKRECIPES_DEB_REVISION}")
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# A component that depends on another one needs exactly the same version of it.
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}")

set(CPACK_DEBIAN_ZKRECIPES_RUNTIME_PACKAGE_NAME "libzkrecipes${zkrecipes_soversion}")
set(CPACK_DEBIAN_ZKRECIPES_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_ZKRECIPES_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ZKRECIPES_RUNTIME_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/packaging/debian/triggers")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_COMPONENT_ZKRECIPES_RUNTIME_DESCRIPTION
"distributed locks on ZooKeeper for C++ (shared library)
zkrecipes are locks between machines: fair mutex, read/write lock,
semaphore and others, with the queue of waiters in a ZooKeeper ensemble.
They are compatible with the recipes of Apache Curator.

This package contains the library that programs need to run.")

set(CPACK_DEBIAN_ZKRECIPES_DEVELOPMENT_PACKAGE_NAME libzkrecipes-dev)
set(CPACK_DEBIAN_ZKRECIPES_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_ZKRECIPES_DEVELOPMENT_DEPENDS zkrecipes_runtime)
# What find_package(zkrecipes) and zkrecipes.pc look for. Neither glog nor the C client: the shared library has resolved
# them, and no header includes them.
set(CPACK_DEBIAN_ZKRECIPES_DEVELOPMENT_PACKAGE_DEPENDS
  "libboost-chrono-dev (>= 1.74), libboost-dev (>= 1.74), libboost-thread-dev (>= 1.74)")
set(CPACK_COMPONENT_ZKRECIPES_DEVELOPMENT_DESCRIPTION
"distributed locks on ZooKeeper for C++ (development files)
zkrecipes are locks between machines: fair mutex, read/write lock,
semaphore and others, with the queue of waiters in a ZooKeeper ensemble.
They are compatible with the recipes of Apache Curator.

This package contains the headers, the CMake package and the pkg-config
file that programs need to be built.")

set(CPACK_DEBIAN_ZKLOCK_PACKAGE_NAME zklock)
set(CPACK_DEBIAN_ZKLOCK_PACKAGE_SECTION admin)
set(CPACK_COMPONENT_ZKLOCK_DEPENDS zkrecipes_runtime)
set(CPACK_DEBIAN_ZKLOCK_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ZKLOCK_PACKAGE_SUGGESTS "bash-completion")
set(CPACK_COMPONENT_ZKLOCK_DESCRIPTION
"hold a distributed lock on ZooKeeper from the shell
zklock runs a command while it holds a lock that is shared between
machines, as flock does on one machine. It also lists who holds a lock
and who waits for it, asks a holder to give way, and checks whether a
ZooKeeper ensemble is fit for locks.")

# Debian wants a copyright file, changelogs and compressed pages in each package; an installation from source does not.
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/packaging/debian/finish.cmake")
set(CPACK_ZKRECIPES_SOURCE_DIR "${PROJECT_SOURCE_DIR}")
include(CPack)

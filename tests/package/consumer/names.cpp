// SPDX-License-Identifier: Apache-2.0
//
// A program that uses the whole namespace still has the natural names for its own things.

#include <zkrecipes/zkrecipes.h>

using namespace zkrecipes;  // NOLINT(google-build-using-namespace): this is what is tested

int connection = 1;
int recipes = 2;

int sum_of_names() {
  return connection + recipes;
}

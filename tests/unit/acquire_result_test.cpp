// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/acquire_result.h"

#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>

#include "recipes/hold_access.h"
#include "zkrecipes/error.h"

namespace zkrecipes {
namespace {

using detail::HoldAccess;

std::error_code thrown_by(const AcquireResult& result) {
  try {
    static_cast<void>(result.value());
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("lock /a"), std::string::npos) << error.what();
    return error.code();
  }
  return {};
}

TEST(AcquireResult, WithAHold_IsUsedLikeAnOptional) {
  AcquireResult result = HoldAccess::result(Hold());
  EXPECT_TRUE(result);
  EXPECT_TRUE(result.has_value());
  EXPECT_EQ(result.status(), AcquireStatus::granted);
  EXPECT_EQ(result.error(), nullptr);
  EXPECT_EQ(result->node(), "");
  EXPECT_EQ(&result.value(), &*result);
  Hold hold = *std::move(result);
  hold = std::move(result).value();
  EXPECT_FALSE(hold);
}

TEST(AcquireResult, WithoutAHold_ThrowsWhatWentWrong) {
  EXPECT_EQ(thrown_by(HoldAccess::result(AcquireStatus::busy, nullptr, "/a")), make_error_code(ErrorCode::busy));
  EXPECT_EQ(thrown_by(HoldAccess::result(AcquireStatus::timed_out, nullptr, "/a")),
            make_error_code(ErrorCode::timed_out));
  EXPECT_EQ(thrown_by(HoldAccess::result(AcquireStatus::not_connected, nullptr, "/a")),
            make_error_code(ErrorCode::not_connected));
  const AcquireResult stopped = HoldAccess::result(AcquireStatus::stopped, nullptr, "/a");
  EXPECT_FALSE(stopped);
  EXPECT_THROW(static_cast<void>(stopped.value()), Cancelled);
  EXPECT_EQ(stopped.error(), nullptr);
}

TEST(AcquireResult, ThatHasFailed_ThrowsItsError) {
  const auto error = std::make_exception_ptr(NotAuthorized("the server refuses"));
  const AcquireResult result = HoldAccess::result(AcquireStatus::failed, error, "/a");
  EXPECT_FALSE(result);
  EXPECT_EQ(result.error(), error);
  EXPECT_THROW(static_cast<void>(result.value()), NotAuthorized);
}

TEST(AcquireResult, OfNoAcquire_HasNothing) {
  const AcquireResult result;
  EXPECT_FALSE(result);
  EXPECT_EQ(result.status(), AcquireStatus::failed);
  EXPECT_THROW(static_cast<void>(result.value()), std::logic_error);
}

TEST(AcquireStatus, IsPrintedInWords) {
  std::ostringstream out;
  out << AcquireStatus::granted << ", " << AcquireStatus::busy << ", " << AcquireStatus::timed_out << ", "
      << AcquireStatus::not_connected << ", " << AcquireStatus::stopped << ", " << AcquireStatus::failed;
  EXPECT_EQ(out.str(), "granted, busy, timed out, not connected, stopped, failed");
}

}  // namespace
}  // namespace zkrecipes

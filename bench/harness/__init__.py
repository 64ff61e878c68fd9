# SPDX-License-Identifier: Apache-2.0
"""Runs the drivers of all peers side by side and reports. Started by scripts/bench."""

// SPDX-License-Identifier: Apache-2.0
import Testing

/// One after another: a pcscd has 16 readers at most, and tests of time limits want an idle machine.
@Suite(.serialized) struct PCSCTests {}

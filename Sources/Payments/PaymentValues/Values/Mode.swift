// SPDX-License-Identifier: Apache-2.0
/// Whether real money can move. Said in every result.
public enum Mode: String, Codable, CaseIterable, Sendable {
    case test, live
}

// SPDX-License-Identifier: Apache-2.0
/// What a shop does with an approved payment afterwards.
public enum OperationKind: String, Codable, CaseIterable, Sendable {
    case capture, adjustment, release
}

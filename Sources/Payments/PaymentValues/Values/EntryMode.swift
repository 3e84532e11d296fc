// SPDX-License-Identifier: Apache-2.0
/// How a card was read.
public enum EntryMode: String, Codable, CaseIterable, Sendable {
    case contactlessEMV = "CONTACTLESS_EMV"
    case contactlessMagstripe = "CONTACTLESS_MAGSTRIPE"
}

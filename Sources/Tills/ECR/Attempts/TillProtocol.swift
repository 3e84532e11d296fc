// SPDX-License-Identifier: Apache-2.0
/// The protocols that are spoken here, by their words in `nfc-tap-ecr.toml`.
public enum TillProtocol: String, CaseIterable, Sendable {
    case caisseAP = "caisse-ap"
    case caisseEPlus = "caisse-e-plus"
    case hwProxy = "hw-proxy"
    /// Of vending machines; it has no desk.
    case mdb
    case zvt
}

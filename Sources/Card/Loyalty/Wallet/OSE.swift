// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// The application that both wallets answer for: OSE.VAS.01. One SELECT tells which wallet a phone has.
public enum OSE {
    /// ASCII `OSE.VAS.01`.
    public static let name: [UInt8] = Array("OSE.VAS.01".utf8)

    /// `00 A4 04 00 0A … 00`. Never a payment application.
    ///
    /// - Throws: `APDUError` never: the name fits.
    public static func select() throws(APDUError) -> CommandAPDU { try .select(name) }

    /// Reads the answer to the SELECT. Tag 50 decides, compared byte by byte.
    public static func application(_ response: ResponseAPDU) -> WalletApplication {
        guard response.status.isSuccess else { return .none(response.status) }
        let bytes = response.data
        let nodes: [TLVNode]
        do {
            nodes = try TLV.nodes(bytes)
        } catch {
            return .malformed
        }
        guard let template = nodes.first, template.tag == VASTag.fciTemplate, template.end == bytes.count else {
            return .malformed
        }
        guard let label = nodes.first(where: { $0.tag == VASTag.walletLabel && $0.depth == 1 }) else { return .other }
        let text = Array(bytes[label.value])
        if text == Array("ApplePay".utf8) { return .apple(VASSelection(bytes, nodes: nodes)) }
        if text == Array("AndroidPay".utf8) { return .google(SmartTapSelection(bytes, nodes: nodes)) }
        return .other
    }
}

/// What answered the SELECT of OSE.VAS.01.
public enum WalletApplication: Equatable, Sendable {
    case apple(VASSelection)
    case google(SmartTapSelection)
    /// An application with a label that is neither wallet's.
    case other
    /// The SELECT was refused; 6A82 is what every plain card says.
    case none(StatusWord)
    /// SW 9000, but no FCI template, or a damaged one.
    case malformed
}

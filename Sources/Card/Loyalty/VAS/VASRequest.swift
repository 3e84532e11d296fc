// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// GET VAS DATA for one merchant: `80 CA 01 P2 Lc … 00`.
public struct VASRequest: Equatable, Sendable {
    /// `nil` leaves 9F25 out, which only a request that sends an address may do.
    public var merchantID: [UInt8]?
    /// Where the customer can join; at most 64 bytes.
    public var url: String?
    /// P2 = 00: only send the address.
    public var urlOnly: Bool
    public var terminal: VASTerminal
    /// Another merchant is asked next.
    public var more: Bool

    public init(merchantID: [UInt8]?, url: String? = nil, urlOnly: Bool = false, terminal: VASTerminal, more: Bool) {
        self.merchantID = merchantID
        self.url = url
        self.urlOnly = urlOnly
        self.terminal = terminal
        self.more = more
    }

    public init(_ merchant: VASMerchant, terminal: VASTerminal, more: Bool) {
        self.init(
            merchantID: merchant.wantsSignUpOnly ? nil : merchant.merchantID, url: merchant.url,
            urlOnly: merchant.wantsSignUpOnly, terminal: terminal, more: more)
    }

    /// - Throws: `.dataTooLong` where the data objects take more than 255 bytes.
    public func command() throws(APDUError) -> CommandAPDU {
        var objects = TLVWriter()
        objects.append(VASTag.terminalVersion, [0x01, 0x00])
        if let merchantID { objects.append(VASTag.merchantID, merchantID) }
        objects.append(VASTag.terminalCapabilities, terminal.capabilities(more: more))
        if let nonce = terminal.nonce { objects.append(VASTag.terminalNonce, nonce) }
        if let url { objects.append(VASTag.merchantURL, Array(url.utf8)) }
        if let filter = terminal.filter { objects.append(VASTag.filter, filter) }
        return try CommandAPDU(
            cla: 0x80, ins: 0xCA, p1: 0x01, p2: urlOnly ? 0x00 : 0x01, data: objects.bytes, le: 256)
    }
}

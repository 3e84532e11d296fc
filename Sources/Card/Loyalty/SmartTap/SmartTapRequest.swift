// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// The three commands of a secure session, built from their parts.
public enum SmartTapRequest {
    /// NEGOTIATE SECURE SESSION: `90 53 00 00 Lc <ngr> 00`.
    ///
    /// - Throws: `.dataTooLong`; with a signature in DER the data take 189 to 192 bytes.
    public static func negotiate(
        _ session: SmartTapSession, handshake: SmartTapHandshake, signature: [UInt8]
    ) throws(APDUError) -> CommandAPDU {
        let live: UInt8 = handshake.authentication == .live ? 0x01 : 0x00
        let fixed =
            handshake.readerNonce + [live] + handshake.readerEphemeralKey
            + SmartTapCollector.bytes(handshake.keyVersion)
        return try SmartTap.command(
            0x53,
            message("ngr") { request in
                request.append(.external, type: "ses", payload: session.payload)
                request.append(external: "cpr", prefix: fixed) { proof in
                    proof.append(.external, type: "sig", payload: [0x04] + signature)
                    proof.append(.external, type: "cld", payload: [0x04] + handshake.collectorID)
                }
            })
    }

    /// GET SMART TAP DATA: `90 50 00 00 Lc <srq> 00`.
    ///
    /// - Throws: `.dataTooLong` where merchant details and services take too much.
    public static func getData(
        _ session: SmartTapSession, collector: SmartTapCollector, capabilities: SmartTapCapabilities?
    ) throws(APDUError) -> CommandAPDU {
        try SmartTap.command(
            0x50,
            message("srq") { request in
                request.append(.external, type: "ses", payload: session.payload)
                request.append(external: "mer") { append(collector, to: &$0) }
                request.append(external: "slr") { list in
                    for service in collector.services {
                        list.append(.external, type: "str", payload: [service.rawValue])
                    }
                }
                if let capabilities { request.append(.external, type: "pcr", payload: capabilities.bytes) }
            })
    }

    /// PUSH SMART TAP DATA: `90 52 00 00 Lc <spr> 00`.
    ///
    /// - Throws: `.dataTooLong` where the texts take too much.
    public static func push(_ session: SmartTapSession, _ push: SmartTapPush) throws(APDUError) -> CommandAPDU {
        try SmartTap.command(
            0x52,
            message("spr") { request in
                request.append(.external, type: "ses", payload: session.payload)
                push.append(to: &request)
            })
    }

    private static func append(_ collector: SmartTapCollector, to message: inout NDEFWriter) {
        let merchant = collector.merchant
        message.append(.external, type: "cld", payload: [0x04] + collector.id)
        if let id = merchant.locationID { message.append(.external, type: "lid", payload: [0x01] + Array(id.utf8)) }
        if let id = merchant.terminalID { message.append(.external, type: "tid", payload: [0x01] + Array(id.utf8)) }
        if let name = merchant.name {
            message.append(.wellKnown, type: "T", id: "mnr", payload: [0x02] + Array("en\(name)".utf8))
        }
        if let code = merchant.categoryCode { message.append(.external, type: "mcr", payload: [0x05] + code) }
    }

    private static func message(_ type: String, _ body: (inout NDEFWriter) -> Void) -> NDEFWriter {
        let version = SmartTap.version
        var message = NDEFWriter()
        message.append(
            external: type,
            prefix: [UInt8(truncatingIfNeeded: version >> 8), UInt8(truncatingIfNeeded: version)], body)
        return message
    }
}

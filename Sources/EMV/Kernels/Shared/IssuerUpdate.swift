import CardBytes

/// Commands that bring the issuer's answer to the card after an online request: EXTERNAL AUTHENTICATE, then the
/// commands (86) of the script templates (EMV Book 3 §10.9 and §10.10). Their use by contactless kernels is unverified.
struct IssuerUpdate: Sendable {
    private var commands: [CommandAPDU] = []
    private var next = 0
    /// Status word of every command that was answered, in order.
    private(set) var results: [StatusWord] = []

    /// A script that is no BER-TLV, or a command that is no APDU, ends the list before it.
    init(_ response: OnlineResponse) {
        do throws(APDUError) {
            if !response.issuerAuthenticationData.isEmpty {
                commands.append(
                    try CommandAPDU(cla: 0x00, ins: 0x82, p1: 0x00, p2: 0x00, data: response.issuerAuthenticationData))
            }
            for node in try scriptCommands(response.scripts) {
                commands.append(try CommandAPDU(Array(response.scripts[node.value])))
            }
        } catch {
            return
        }
    }

    private func scriptCommands(_ scripts: [UInt8]) throws(APDUError) -> [TLVNode] {
        do throws(TLVError) {
            return try TLV.nodes(scripts).filter { $0.tag == .issuerScriptCommand }
        } catch {
            throw .truncated(scripts.count)
        }
    }

    var command: CommandAPDU? { next < commands.count ? commands[next] : nil }

    mutating func answered(_ status: StatusWord) {
        results.append(status)
        next += 1
    }

    /// The transaction was decided online; the card's answers go to the acquirer as Issuer Script Results (9F5B).
    static func outcome(of update: IssuerUpdate?, languagePreference: [UInt8] = []) -> Outcome {
        let results = (update?.results ?? []).flatMap { $0.bytes }
        return Outcome(
            .endApplication,
            uiOnOutcome: UIRequest(.cardReadOK, .cardReadSuccessfully, languagePreference: languagePreference),
            discretionaryData: [DataObject(.issuerScriptResults, results)])
    }
}

// SPDX-License-Identifier: Apache-2.0
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

protocol IssuerUpdateState: KernelState {
    static var updating: Self { get }
}

/// A kernel whose card is presented a second time, to take the issuer's answer: 3 (C-3 5.9) and 5. All of it is
/// unverified.
protocol IssuerUpdatingKernel: StandardKernel where State: IssuerUpdateState {
    var update: IssuerUpdate? { get set }
    /// The end once every command is answered, or the card left.
    var updateOutcome: Outcome { get }
}

extension IssuerUpdatingKernel {
    mutating func startUpdate(_ response: OnlineResponse) -> KernelStep {
        update = IssuerUpdate(response)
        state = .updating
        return nextUpdate()
    }

    mutating func updateReceived(_ response: ResponseAPDU) -> KernelStep {
        update?.answered(response.status)
        return nextUpdate()
    }

    private mutating func nextUpdate() -> KernelStep {
        guard let command = update?.command else { return finish(updateOutcome) }
        return KernelStep(.transmit(command))
    }
}

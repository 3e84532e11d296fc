// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Commands that bring the issuer's answer to the card after an online request: EXTERNAL AUTHENTICATE, then the
/// commands (86) of the script templates (EMV Book 3 §10.9 and §10.10). Their use by contactless kernels is unverified.
struct IssuerUpdate: Sendable {
    /// What belongs together: a command that is refused ends its own script and no other (EMV Book 3 §10.10).
    private var scripts: [[CommandAPDU]]
    /// Status word of every command that was answered, in order.
    private(set) var results: [StatusWord] = []

    /// Scripts that cannot be read are left out, all of them.
    init(_ response: OnlineResponse) {
        scripts = response.scriptCommands ?? []
        guard !response.issuerAuthenticationData.isEmpty else { return }
        do throws(APDUError) {
            let authenticate = try CommandAPDU(
                cla: 0x00, ins: 0x82, p1: 0x00, p2: 0x00, data: response.issuerAuthenticationData)
            scripts.insert([authenticate], at: 0)
        } catch {
            return
        }
    }

    var command: CommandAPDU? { scripts.first { !$0.isEmpty }?.first }

    mutating func answered(_ status: StatusWord) {
        results.append(status)
        guard let script = scripts.firstIndex(where: { !$0.isEmpty }) else { return }
        scripts[script].removeFirst()
        if !status.letsScriptGoOn { scripts[script] = [] }
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

extension StatusWord {
    /// 90, and the warnings 62 and 63 (EMV Book 3 §10.10).
    fileprivate var letsScriptGoOn: Bool { [0x90, 0x62, 0x63].contains(sw1) }
}

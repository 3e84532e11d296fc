// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// The balance before and after the cryptogram: a GET DATA each, whose failure ends nothing.
extension Kernel2 {
    /// 9F5D byte 2 bit 2: the card tells its balance.
    var wantsBalance: Bool { capabilities(2) & 0x02 != 0 }

    /// GET DATA for the Offline Accumulator Balance (9F50).
    static let getBalance = ShortCommand.make(0x80, 0xCA, 0x9F, 0x50)

    /// The balance is a courtesy: without it the transaction goes on.
    mutating func balanceReceived(_ response: ResponseAPDU, into tag: Tag) -> KernelStep {
        if response.status.isSuccess, let balance = Kernel2.balance(response.data) { store.set(tag, balance) }
        return tag == .balanceBeforeCryptogram ? checkVelocity() : finishPending()
    }

    private static func balance(_ data: [UInt8]) -> [UInt8]? {
        do throws(CardDataError) {
            let template = try ResponseTemplate(data)
            return template.tag == .offlineBalance && template.value.count == 6 ? Array(data[template.value]) : nil
        } catch {
            return nil
        }
    }

    mutating func finishPending() -> KernelStep {
        guard var outcome = pending else { return fail(.cardDataError) }
        if outcome.status == .approved, let balance = store.value(.balanceAfterCryptogram) {
            outcome.uiOnOutcome?.value = UIRequest.Value(
                qualifier: .balance, amount: balance, currency: store.value(.applicationCurrency) ?? [])
        }
        return finish(outcome)
    }
}

// SPDX-License-Identifier: Apache-2.0
extension Payment {
    /// The transaction without what no two taps share: identities, times, and what cards and chips make anew each time.
    var comparable: [String: Any] {
        var transaction = transaction
        for key in ["id", "createdAt", "updatedAt", "events"] { transaction[key] = nil }
        transaction["history"] = (transaction["history"] as? [[String: Any]])?.map { $0["state"] as? String ?? "" }
        transaction["result"] = Payment.given(
            transaction["result"], ["pspReference", "approvalCode", "receiptURL"])
        // The sandbox's own for each of its runs, as its keys are.
        transaction["card"] = Payment.given(transaction["card"], ["token"])
        transaction["chip"] = Payment.given(transaction["chip"], ["cryptogram", "unpredictableNumber"])
        return transaction
    }

    private static func given(_ value: Any?, _ keys: [String]) -> Any? {
        guard var members = value as? [String: Any] else { return value }
        for key in keys where members[key] != nil { members[key] = "given" }
        return members
    }
}

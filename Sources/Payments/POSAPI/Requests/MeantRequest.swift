// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// Requests in the form in which two that mean the same are equal: what says a default in words says nothing.
///
/// A client library that fills in defaults sends another body than one that does not, for the same sale. An idempotency key is held
/// against this form.
extension TransactionRequest {
    /// The same request without members that say what holds without them.
    public var meant: TransactionRequest {
        var request = self
        for path in [\Self.store, \.detached, \.allowRepeat, \.accessible, \.dryRun]
        where request[keyPath: path] == false {
            request[keyPath: path] = nil
        }
        if request.deadline == Limits.defaultDeadlineSeconds { request.deadline = nil }
        if request.card == RefundCardRule.none { request.card = nil }
        request.capture = capture?.meant
        // Where the amount is that of an earlier sale, its status is too, and saying one is another request.
        if request.amountStatus == .final, amount != Money.none { request.amountStatus = nil }
        request.items = items?.map(\.meant)
        if request.loyalty?.stopOnPass == false { request.loyalty?.stopOnPass = nil }
        if type == .loyalty, request.loyalty == LoyaltyOptions() { request.loyalty = nil }
        return request
    }
}

extension CaptureOptions {
    /// `nil` for what holds without it: at once, or held because `amountStatus` says so.
    fileprivate var meant: CaptureOptions? {
        var wish = self
        if wish.incremental == false { wish.incremental = nil }
        return wish == CaptureOptions(mode) ? nil : wish
    }
}

extension Item {
    fileprivate var meant: Item {
        var item = self
        if item.kind == .charge { item.kind = nil }
        return item
    }
}

extension EndOfDayRequest {
    /// The same demand without members that say what holds without them.
    public var meant: EndOfDayRequest { EndOfDayRequest(label: label, force: force == true ? true : nil) }
}

extension CaptureRequest {
    /// The same demand without members that say what holds without them.
    public var meant: CaptureRequest {
        var demand = self
        if demand.tip?.value == 0 { demand.tip = nil }
        return demand
    }
}

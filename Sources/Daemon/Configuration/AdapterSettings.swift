// SPDX-License-Identifier: Apache-2.0
public import Envelope
public import PSPAPI

/// `[psp]`: the way to the payment service's adapter.
public struct AdapterSettings: Sendable {
    public var socket: String
    public var times = AdapterTimes()
    /// `recipient-key`: card data is sealed to this one whatever the adapter or a profile say.
    public var recipient: RecipientKey?

    public init(socket: String) { self.socket = socket }
}

// SPDX-License-Identifier: Apache-2.0
/// Why a command got no complete answer, as the transport reports it. Kernels pass it on as level 1 of their error.
public enum CardLoss: Sendable, CaseIterable {
    /// No answer in time: as a rule the card was taken away.
    case timeOut
    /// An answer that did not come through whole.
    case transmission
    /// An answer that keeps no rule of the transport.
    case protocolError
}

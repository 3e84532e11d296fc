// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// What a kernel tells the terminal and asks of it in the middle of a transaction: the DEK signal of kernel 2 (C-2 §6.3).
public struct DataExchange: Equatable, Sendable {
    /// FF8104: what the terminal wanted to know. An empty object is one that the card does not have.
    public var dataToSend: [DataObject]
    /// DF8106: what the kernel has to know before it can go on.
    public var dataNeeded: [Tag]

    public init(dataToSend: [DataObject] = [], dataNeeded: [Tag] = []) {
        self.dataToSend = dataToSend
        self.dataNeeded = dataNeeded
    }

    /// FF8104 and DF8106 as BER-TLV; the second is left out where nothing is needed.
    public var encoded: [UInt8] {
        var objects = [DataObject(.dataToSend, dataToSend.encoded)]
        if !dataNeeded.isEmpty { objects.append(DataObject(.dataNeeded, dataNeeded.flatMap { $0.bytes })) }
        return objects.encoded
    }
}

/// What the terminal answers: the DET signal of kernel 2.
public enum TerminalAnswer: Equatable, Sendable {
    /// Objects that the kernel takes as far as a terminal may set them.
    case objects([DataObject])
    /// Nothing came in time (DF8127).
    case timedOut
}

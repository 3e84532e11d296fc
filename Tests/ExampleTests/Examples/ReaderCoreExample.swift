// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ReaderCore

/// The status word that a recorded card gave to its first command.
func firstStatus(in recording: String) throws -> StatusWord? {
    let transcript = try Transcript(parsing: recording)
    let reader = ReplayReader(transcript)
    defer { reader.close() }
    _ = try reader.activate(until: TapInstant(nanoseconds: .max), cancellation: TapCancellation())
    for case .exchanged(let command, _) in transcript.steps {
        return try reader.transmit(command, until: TapInstant(nanoseconds: .max)).status
    }
    return nil
}

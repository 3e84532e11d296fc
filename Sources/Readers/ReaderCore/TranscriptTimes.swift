// SPDX-License-Identifier: Apache-2.0
/// When the steps of a transcript happened: the value of its header line `times`.
///
/// One word for each step: microseconds since the first one, and for a command the times of its sending and of its answer:
/// `0 310-12840 13002-41977 60411`. Times never go back.
public struct TranscriptTimes: Equatable, Sendable {
    /// One step, in microseconds; begin and end are the same for anything but a command.
    public struct Span: Equatable, Sendable {
        public var begin: UInt64
        public var end: UInt64

        public init(begin: UInt64, end: UInt64) {
            self.begin = begin
            self.end = end
        }

        public var duration: UInt64 { end > begin ? end - begin : 0 }
    }

    /// The key of the header line.
    public static let key = "times"

    public var spans: [Span]

    public init(spans: [Span]) { self.spans = spans }

    /// `nil` where `text` does not have one word for each of `steps`, or goes back in time.
    public init?(_ text: String, steps: [Transcript.Step]) {
        spans = []
        var latest: UInt64 = 0
        for word in text.split(whereSeparator: \.isWhitespace) {
            let parts = word.split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0) }
            guard parts.count <= 2, let begin = parts.first ?? nil, let end = parts.last ?? nil, begin >= latest,
                end >= begin
            else { return nil }
            spans.append(Span(begin: begin, end: end))
            latest = end
        }
        guard spans.count == steps.count else { return nil }
    }

    public var text: String {
        spans.map { $0.begin == $0.end ? "\($0.begin)" : "\($0.begin)-\($0.end)" }.joined(separator: " ")
    }
}

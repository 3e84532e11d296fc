// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import PaymentValues

/// RFC 3339 §5.8 has the first three.
struct ZonedTimeTests {
    @Test(
        "A time with an offset is the moment that it names",
        arguments: [
            ("1985-04-12T23:20:50.52Z", "1985-04-12T23:20:50.520Z"),
            ("1996-12-19T16:39:57-08:00", "1996-12-20T00:39:57.000Z"),
            ("1937-01-01T12:00:27.87+00:20", "1937-01-01T11:40:27.870Z"),
            ("2026-03-01T00:30:00+01:00", "2026-02-28T23:30:00.000Z"),
            ("2026-03-01T00:30:00-00:00", "2026-03-01T00:30:00.000Z"),
        ])
    func offset(_ text: String, _ expected: String) { #expect(Timestamp(withZone: text)?.description == expected) }

    @Test(
        "A time without a zone, or with half of one, is none",
        arguments: [
            "", "2026-03-01T00:30:00", "2026-03-01T00:30:00+1:00", "2026-03-01T00:30:00+0100",
            "2026-03-01T00:30:00+24:00",
            "2026-03-01T00:30:00+01:60", "2026-03-01T00:30:00 01:00", "2026-03-01T00:30:00Z+01:00",
            "2026-02-30T00:30:00+01:00",
            "2026-03-01T00:30:00.+01:00", "2026-03-01+01:00", "\u{2212}026-03-01T00:30:00+01:00",
        ])
    func none(_ text: String) { #expect(Timestamp(withZone: text) == nil) }
}

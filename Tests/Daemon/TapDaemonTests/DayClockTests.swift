// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import Testing

@testable import TapDaemon

/// The clock of Berlin in 2026: an hour ahead of UTC, two from 29 March 01:00 UTC to 25 October 01:00 UTC.
@Suite("When a business day ends")
struct DayClockTests {
    private func wall(_ time: Timestamp) -> EndOfDaySchedule.WallTime {
        let summer = Timestamp("2026-03-29T01:00:00.000Z") ?? time
        let winter = Timestamp("2026-10-25T01:00:00.000Z") ?? time
        let local = time.advanced(bySeconds: time >= summer && time < winter ? 7_200 : 3_600).components
        return EndOfDaySchedule.WallTime(
            year: local.year, month: local.month, day: local.day, minutes: local.hour * 60 + local.minute)
    }

    @Test(
        "It ends at the first moment that shows the time or a later one",
        arguments: [
            // Opened before and after the time of day.
            ("2026-01-10T01:00:00.000Z", 240, "2026-01-10T03:00:00.000Z"),
            ("2026-01-10T09:00:00.000Z", 240, "2026-01-11T03:00:00.000Z"),
            ("2026-01-10T03:00:00.000Z", 240, "2026-01-11T03:00:00.000Z"),
            ("2026-01-10T22:30:00.000Z", 0, "2026-01-10T23:00:00.000Z"),
            // 02:30 does not exist on 29 March: three o'clock is the first moment after it.
            ("2026-03-28T12:00:00.000Z", 150, "2026-03-29T01:00:00.000Z"),
            // 02:30 exists twice on 25 October: the first counts, and only once.
            ("2026-10-24T12:00:00.000Z", 150, "2026-10-25T00:30:00.000Z"),
            ("2026-10-25T00:30:00.000Z", 150, "2026-10-26T01:30:00.000Z"),
            ("2026-10-25T01:10:00.000Z", 150, "2026-10-25T01:30:00.000Z"),
        ])
    func end(opened: String, minutes: Int, expected: String) throws {
        let opened = try #require(Timestamp(opened))
        #expect(EndOfDaySchedule.end(of: opened, minutes: minutes, wall: wall).description == expected)
    }
}

// SPDX-License-Identifier: Apache-2.0
import PSPAPI
import Testing

struct RetryScheduleTests {
    @Test func `one pause after each attempt, and the last one goes on`() {
        let schedule = RetrySchedule(.seconds(1), .seconds(5), .seconds(30))
        let expected: [(Int, Duration)] = [
            (Int.min, .seconds(1)), (0, .seconds(1)), (1, .seconds(1)), (2, .seconds(5)), (3, .seconds(30)),
            (4, .seconds(30)), (Int.max, .seconds(30)),
        ]
        for (attempts, pause) in expected { #expect(schedule.pause(after: attempts) == pause, "\(attempts)") }
        #expect(schedule.longest == .seconds(30))
    }
}

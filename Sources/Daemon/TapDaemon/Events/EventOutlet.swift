// SPDX-License-Identifier: Apache-2.0
import Configuration
import POSAPI

/// Tells clients what happens, in the mode of this moment, and counts it.
struct EventOutlet: Sendable {
    let events: EventHub
    let measures = Measures()
    let settings: CurrentSettings

    func publish(_ event: Event) {
        var event = event
        event.mode = settings.snapshot.mode
        measures.published(event.name)
        events.publish(event)
    }
}

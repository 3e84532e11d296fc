/// What a new configuration makes of a lane that was in use when it came.
indirect enum LaneChange: Sendable {
    case removed
    /// Has another reader.
    case replaced(LaneEntry)
}

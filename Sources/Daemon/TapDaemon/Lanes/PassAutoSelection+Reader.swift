// SPDX-License-Identifier: Apache-2.0
import Loyalty
import POSAPI
import ReaderCore

extension PassAutoSelection {
    /// What a lane's reader does about it while passes are wanted.
    init(_ reader: LaneStatus.Reader) {
        switch ReaderIdentity.Driver(rawValue: reader.driver) {
        case .libnfc: self = reader.model.hasPrefix("PN53") ? .pollingFrames : .unavailable(.chipCannot)
        case .pcsc: self = .unavailable(.readerPollsItself)
        case .virtual, .replay, nil: self = .unavailable(.noRadio)
        }
    }
}

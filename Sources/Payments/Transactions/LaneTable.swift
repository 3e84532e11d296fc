// SPDX-License-Identifier: Apache-2.0
public import POSAPI
public import PaymentValues

/// The way to a lane's reader, which the table hands out and asks only this.
public protocol LaneDevice: Sendable {
    /// Whether it is being made ready, and for somebody who wants to know.
    var preparing: LanePreparing { get }
}

public enum LanePreparing: Sendable {
    case not
    /// The daemon tries something again that failed: nobody is told unless it succeeds.
    case quietly
    case openly
}

/// What is known of one lane, and who has it.
///
/// More than fifteen stored properties: each is what another part of the daemon knows of the lane.
public struct LaneRecord<Device: LaneDevice>: Sendable {
    public let name: String
    /// Its reader exists in software only: not for live payments.
    public let isVirtual: Bool
    public var device: Device
    public var offersLoyalty: Bool
    public var reader: LaneStatus.Reader?
    public var passAutoSelect = false
    public var holder: LaneStatus.Holder?
    public var lastTap: LaneStatus.Tap?
    /// An administrator's commands to a card have it, and no transaction.
    public var isLent = false
    /// Waits for the next card because it stands alone: ready for that, and for no till.
    public var standsArmed = false
    /// What keeps the reader from working; `daemon.unavailable` until it was prepared for the first time.
    public var error: ErrorCode? = .daemonUnavailable
    /// Why the lane has to be prepared; `nil` where it is.
    public var pendingPreparation: PrepareReason? = .start
    /// Seconds since 1970 when what was prepared ends, and when it is renewed while it is still good.
    public var expiry: Int64?
    public var renewal: Int64?
    /// Somebody is looking after the reader.
    public var isBeingChecked = false
    /// What becomes of it once it is free.
    public var change: LaneChange<Device>?

    public init(name: String, isVirtual: Bool, device: Device, offersLoyalty: Bool) {
        self.name = name
        self.isVirtual = isVirtual
        self.device = device
        self.offersLoyalty = offersLoyalty
    }

    public var status: LaneStatus {
        var status = LaneStatus(
            name: name, state: state,
            features: [.purchase, .refund, .verification] + (offersLoyalty ? [.loyalty] : []))
        status.passAutoSelect = passAutoSelect
        status.reader = reader
        status.holder = holder
        status.lastTap = lastTap
        // Not yet prepared for the first time is no fault: the state says it.
        status.error = error.flatMap { $0 == .daemonUnavailable ? nil : ErrorDetail($0) }
        return status
    }

    /// Nobody has it.
    public var isFree: Bool { holder == nil && !isLent }

    private var state: LaneStatus.State {
        if device.preparing == .openly, pendingPreparation != nil { return .preparing }
        switch error {
        case .daemonUnavailable: return .preparing
        case .readerDetached, .readerServiceUnavailable, .readerServiceMismatch, .readerAccessDenied,
            .readerWorkerMissing:
            return .detached
        case .some: return .faulty
        case nil: return isFree || standsArmed ? .ready : .busy
        }
    }

    /// What refuses a tap. One that is being prepared takes it: it waits.
    var refusal: ErrorCode? {
        if change != nil || isLent { return .readerBusy }
        if device.preparing == .openly || error == .daemonUnavailable { return nil }
        // Terms and profile are asked anew with every payment.
        return error.flatMap { $0.isAboutProfile ? nil : $0 }
    }
}

/// What a new configuration makes of a lane that was in use when it came.
public indirect enum LaneChange<Device: LaneDevice>: Sendable {
    case removed
    /// Has another reader.
    case replaced(LaneRecord<Device>)
}

/// Every lane, in the order of the configuration, and which transaction has it. Taken by at most one transaction.
public struct LaneTable<Device: LaneDevice>: Sendable {
    public private(set) var lanes: [LaneRecord<Device>]
    /// Lanes of which any will do, by the group's name.
    public private(set) var groups: [String: [String]]
    /// Devices of lanes that are not used any more and have to be closed.
    private var retired: [Device] = []

    public init(_ lanes: [LaneRecord<Device>], groups: [String: [String]] = [:]) {
        self.lanes = lanes
        self.groups = groups
    }

    public var statuses: [LaneStatus] {
        lanes.map { lane in
            var status = lane.status
            let names = groups.filter { $0.value.contains(lane.name) }.keys.sorted()
            status.groups = names.isEmpty ? nil : names
            return status
        }
    }

    /// The lane of that name; `nil` where there is none.
    public subscript(name: String) -> LaneRecord<Device>? { lanes.first { $0.name == name } }

    /// Every device there is, also one that is to go.
    public var allDevices: [Device] { lanes.map(\.device) + retired }

    /// Changes what is known of a lane; does nothing where there is no such lane any more.
    public mutating func update(_ name: String, _ change: (inout LaneRecord<Device>) -> Void) {
        guard let index = lanes.firstIndex(where: { $0.name == name }) else { return }
        change(&lanes[index])
    }

    // MARK: - Taking

    /// Lanes that may take the card: those the request names that are free, or what refuses it. Without a name it is the
    /// first lane that is free, else the first.
    ///
    /// - Parameter allowed: lanes that whoever asks may use, and every one that it names has to be among; `nil` for all.
    public func free(
        for request: TransactionRequest, within allowed: Set<String>? = nil
    ) -> Result<[String], ErrorBody> {
        let named: [LaneRecord<Device>]
        let mayUse = { (lane: LaneRecord<Device>) in allowed?.contains(lane.name) ?? true }
        if let group = request.group {
            guard let members = groups[group] else { return .failure(ErrorBody(.laneUnknown, field: "group")) }
            named = members.compactMap { self[$0] }
        } else if let names = request.lanes {
            named = names.compactMap { self[$0] }
            guard named.count == names.count else { return .failure(ErrorBody(.laneUnknown, field: "lanes")) }
        } else if let name = request.lane {
            named = self[name].map { [$0] } ?? []
        } else {
            let usable = lanes.filter(mayUse)
            guard !usable.isEmpty || lanes.isEmpty else { return .failure(ErrorBody(.laneNotYours, field: "lane")) }
            named = [usable.first { $0.isFree && $0.error == nil } ?? usable.first].compactMap(\.self)
        }
        guard named.allSatisfy(mayUse) else {
            let field = request.group != nil ? "group" : request.lanes != nil ? "lanes" : "lane"
            return .failure(ErrorBody(.laneNotYours, field: field))
        }
        let free = named.filter { $0.holder == nil && $0.refusal == nil }
        if !free.isEmpty { return .success(free.map(\.name)) }
        if let holder = named.compactMap(\.holder).first {
            return .failure(ErrorBody(.readerBusy, transaction: holder.transaction))
        }
        if let refusal = named.compactMap(\.refusal).first { return .failure(ErrorBody(refusal)) }
        return .failure(ErrorBody(.laneUnknown, field: request.group == nil ? "lane" : "group"))
    }

    public mutating func take(_ names: [String], for holder: LaneStatus.Holder) {
        for index in lanes.indices where names.contains(lanes[index].name) { lanes[index].holder = holder }
    }

    /// Those of `names` that the transaction has, in that order.
    public func taken(by id: TransactionID, of names: [String]) -> [Device] {
        names.compactMap { self[$0] }.filter { $0.holder?.transaction == id }.map(\.device)
    }

    public mutating func setDeadline(_ until: Timestamp, of id: TransactionID) {
        for index in lanes.indices where lanes[index].holder?.transaction == id { lanes[index].holder?.until = until }
    }

    /// Changes what is known of the tap of a transaction, where no later one has taken its place.
    public mutating func updateTap(of id: TransactionID, _ change: (inout LaneStatus.Tap) -> Void) {
        for index in lanes.indices where lanes[index].lastTap?.transaction == id {
            guard var tap = lanes[index].lastTap else { continue }
            change(&tap)
            lanes[index].lastTap = tap
        }
    }

    /// Frees every lane of the transaction, or one of them.
    public mutating func release(by id: TransactionID, only name: String? = nil) {
        for index in lanes.indices where lanes[index].holder?.transaction == id {
            if let name, lanes[index].name != name { continue }
            lanes[index].holder = nil
        }
        changeFreeLanes()
    }

    /// Takes a lane for commands to a card. It is nobody else's until it is taken back.
    public mutating func lend(_ name: String) -> Result<Device, ErrorBody> {
        guard let lane = self[name] else { return .failure(ErrorBody(.laneUnknown)) }
        if let holder = lane.holder { return .failure(ErrorBody(.readerBusy, transaction: holder.transaction)) }
        if let refusal = lane.refusal { return .failure(ErrorBody(refusal)) }
        update(name) { $0.isLent = true }
        return .success(lane.device)
    }

    public mutating func withdraw(_ name: String) {
        update(name) { $0.isLent = false }
        changeFreeLanes()
    }

    // MARK: - A new configuration

    /// - Parameter wanted: every lane there is to be, in order, with a new one where its reader has changed.
    public mutating func apply(
        _ wanted: [(name: String, lane: LaneRecord<Device>?)], groups: [String: [String]], offersLoyalty: Bool
    ) {
        self.groups = groups
        var next: [LaneRecord<Device>] = []
        for (name, fresh) in wanted {
            guard var lane = self[name] else {
                if let fresh { next.append(fresh) }
                continue
            }
            lane.offersLoyalty = offersLoyalty
            retireReplacement(of: lane)
            lane.change = fresh.map { .replaced($0) }
            next.append(lane)
        }
        for var leaving in lanes where !wanted.contains(where: { $0.name == leaving.name }) {
            retireReplacement(of: leaving)
            leaving.change = .removed
            next.append(leaving)
        }
        lanes = next
        // Key and terminal may be others: what was prepared was prepared with the old ones.
        forgetPreparations(because: .request)
        changeFreeLanes()
    }

    /// A reader that was to come and is not wanted any more has to be closed like one that was in use.
    private mutating func retireReplacement(of lane: LaneRecord<Device>) {
        if case .replaced(let never) = lane.change { retired.append(never.device) }
    }

    /// Removes and replaces lanes that had to wait until they were free.
    private mutating func changeFreeLanes() {
        for index in lanes.indices.reversed() where lanes[index].isFree {
            switch lanes[index].change {
            case nil: continue
            case .removed:
                retired.append(lanes[index].device)
                lanes.remove(at: index)
            case .replaced(let fresh):
                retired.append(lanes[index].device)
                lanes[index] = fresh
            }
        }
    }

    /// Devices that are not used any more, to be closed.
    public mutating func takeRetired() -> [Device] {
        defer { retired = [] }
        return retired
    }

    // MARK: - Readiness

    /// Notes that a lane's reader is there.
    ///
    /// - Returns: whether that is news.
    public mutating func attached(_ name: String, _ reader: LaneStatus.Reader, passAutoSelect: Bool) -> Bool {
        guard let lane = self[name] else { return false }
        let wasMissing = lane.error?.rawValue.hasPrefix("reader.") ?? false
        guard wasMissing || lane.reader != reader else { return false }
        update(name) { ($0.reader, $0.passAutoSelect) = (reader, passAutoSelect) }
        return true
    }

    /// Notes that a lane's reader does not work.
    ///
    /// - Returns: whether that is news.
    public mutating func notReady(_ name: String, _ error: ErrorCode) -> Bool {
        var isNews = false
        update(name) { lane in
            if lane.pendingPreparation == nil {
                lane.pendingPreparation = error == .readerDetached ? .readerAttached : .retry
            }
            isNews = lane.error != error
            lane.error = error
            if error == .readerDetached { (lane.reader, lane.passAutoSelect) = (nil, false) }
        }
        return isNews
    }

    /// A preparation has come to a good end.
    ///
    /// - Parameter expiry: seconds since 1970 until when it is good; `nil` without an end.
    public mutating func prepared(_ name: String, until expiry: Int64?, renewal: Int64?) {
        update(name) { lane in
            lane.pendingPreparation = nil
            lane.error = nil
            lane.expiry = expiry
            lane.renewal = renewal
        }
    }

    /// Lanes that nobody prepares and that need it, with why: not prepared, or good for a short time only. The reader's
    /// thread of one that somebody has is in use.
    ///
    /// - Parameters:
    ///   - seconds: since 1970.
    ///   - pause: seconds between two attempts at a renewal.
    public mutating func toPrepare(at seconds: Int64, renewalPause pause: Int64) -> [(
        name: String, reason: PrepareReason
    )] {
        var found: [(name: String, reason: PrepareReason)] = []
        for index in lanes.indices {
            if lanes[index].pendingPreparation == nil, let end = lanes[index].expiry, seconds >= end {
                lanes[index].pendingPreparation = .expiry
            }
            guard lanes[index].device.preparing == .not, lanes[index].isFree else { continue }
            if let reason = lanes[index].pendingPreparation {
                found.append((lanes[index].name, reason))
            } else if let renewal = lanes[index].renewal, seconds >= renewal {
                lanes[index].renewal = seconds &+ pause
                found.append((lanes[index].name, .expiry))
            }
        }
        return found
    }

    /// Nothing that was prepared counts any more.
    public mutating func forgetPreparations(because reason: PrepareReason) {
        for index in lanes.indices where lanes[index].pendingPreparation == nil {
            lanes[index].pendingPreparation = reason
        }
    }

    /// Idle lanes whose reader works as far as is known and that nobody else does anything with; each once until it
    /// `wasChecked`.
    public mutating func toCheck() -> [Device] {
        var found: [Device] = []
        for index in lanes.indices {
            let lane = lanes[index]
            guard lane.error == nil, lane.pendingPreparation == nil, lane.isFree, lane.device.preparing == .not,
                !lane.isBeingChecked
            else { continue }
            lanes[index].isBeingChecked = true
            found.append(lane.device)
        }
        return found
    }

    public mutating func wasChecked(_ name: String) { update(name) { $0.isBeingChecked = false } }
}

extension ErrorCode {
    /// Whether it comes from terms or profile rather than from a reader.
    var isAboutProfile: Bool {
        [
            .termsNotAccepted, .termsRevoked, .credentialMissing, .credentialUntrusted, .credentialInvalid,
            .credentialOutdated, .credentialExpired, .liveNotAcknowledged, .liveTestKey, .readerUnsupported,
        ].contains(self)
    }
}

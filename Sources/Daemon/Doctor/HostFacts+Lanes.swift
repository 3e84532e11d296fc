// SPDX-License-Identifier: Apache-2.0
import Configuration
import ReaderModels

extension HostFacts {
    /// Which of pcscd's readers each lane takes, where the configuration leaves that open.
    func laneReaders() -> [Finding] {
        guard case .readers(let names, _) = pcsc else { return [] }
        let usable = names.map(PCSCReaderName.init).filter { $0.slot == .contactless || $0.slot == .unknown }
        let devices = PCSCReaderName.devices(of: usable)
        var wishes: [Request] = []
        for lane in settings.lanes {
            guard case .pcsc(let text) = lane.reader else { continue }
            let fitting = devices.indices.filter { devices[$0].contains { $0.contains(text) } }
            if let index = wishes.firstIndex(where: { $0.devices == fitting }) {
                wishes[index].lanes.append(lane.name)
            } else {
                wishes.append(Request(lanes: [lane.name], text: text, devices: fitting))
            }
        }
        return wishes.flatMap { wish in
            let fitting = wish.devices.map { devices[$0] }
            return choice(of: wish, among: fitting) + fitting.flatMap { slots(of: $0, for: wish) }
        }
    }

    /// Lanes that the same readers are right for.
    private struct Request {
        var lanes: [String]
        let text: String
        let devices: [Int]

        var names: String { "lane\(lanes.count == 1 ? "" : "s") \(lanes.joined(separator: ", "))" }
    }

    private func choice(of wish: Request, among devices: [[PCSCReaderName]]) -> [Finding] {
        let names = devices.compactMap(\.first)
        guard let first = names.first else { return [] }
        if wish.lanes.count > names.count {
            return [
                Finding(
                    .backend, .error,
                    "\(names.count) connected reader\(names.count == 1 ? " is" : "s are") right for \(wish.names)",
                    remedy: "connect a reader for each, or remove a lane from \(configurationPath)")
            ]
        }
        guard names.count > 1 else { return [] }
        let stems = Set(names.map(\.stem))
        let remedy =
            stems.count == names.count
            ? "write what differs into \(configurationPath): "
                + names.map { "reader = \"pcsc:\($0.stem)\"" }.joined(separator: " or ")
            : "their names differ in numbers only: see \"Two readers of one model\" in docs/shop/readers.md"
        guard wish.lanes.count > 1 else {
            return [
                Finding(
                    .backend, .note,
                    "\(names.count) readers are right for \(wish.names), which takes the first: \(first.full)",
                    remedy: remedy)
            ]
        }
        return [
            Finding(
                .backend, .warning,
                "which of \(names.count) readers each of the \(wish.names) takes is left to the order of connecting",
                remedy: remedy)
        ]
    }

    /// A device whose slots no name tells apart.
    private func slots(of device: [PCSCReaderName], for wish: Request) -> [Finding] {
        let named = device.filter { $0.contains(wish.text) }
        let certain = named.filter { $0.slot == .contactless }
        let watched = certain.isEmpty ? named : certain
        guard watched.count > 1, let first = watched.first else { return [] }
        return [
            Finding(
                .backend, .note,
                "\(first.model) has \(watched.count) slots that no name tells apart: \(Self.daemonName) watches them all "
                    + "until a contactless card shows which one is meant",
                remedy: "none is needed; nfc-tap readers shows the contactless slot while a card lies there")
        ]
    }
}

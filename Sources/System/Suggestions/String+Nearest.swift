// SPDX-License-Identifier: Apache-2.0
extension String {
    /// The name that was probably meant: at most one letter wrong in a short word, two in one of five letters or more; else one
    /// that begins with the word. Of equally near names the first one.
    package func nearest(of names: [String]) -> String? {
        let most = count < 5 ? 1 : 2
        let near = names.map { (name: $0, distance: distance(to: $0)) }.filter { $0.distance <= most }
        if let best = near.min(by: { $0.distance < $1.distance }) { return best.name }
        return count >= 3 ? names.first { $0.hasPrefix(self) } : nil
    }

    /// Letters to insert, leave out, replace, or swap with their neighbour (optimal string alignment).
    package func distance(to other: String) -> Int {
        let (left, right) = (Array(lowercased().prefix(64)), Array(other.lowercased().prefix(64)))
        var before: [Int] = []
        var last = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var line = [row + 1]
            for (column, wanted) in right.enumerated() {
                var best = Swift.min(line[column] + 1, last[column + 1] + 1, last[column] + (letter == wanted ? 0 : 1))
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == wanted {
                    best = Swift.min(best, before[column - 1] + 1)
                }
                line.append(best)
            }
            (before, last) = (last, line)
        }
        return last[right.count]
    }
}

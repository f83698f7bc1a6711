import Foundation

/// States of models that a program has to cope with, brought about for its tests by the variable `FM_SIMULATE`: of the model on
/// this machine and of that on a server.
package enum SimulatedState: String, CaseIterable, Sendable {
    case deviceNotEligible = "device-not-eligible"
    case switchedOff = "switched-off"
    case notReady = "not-ready"
    case approachingQuota = "approaching-quota"
    case quotaReached = "quota-reached"
    case networkDown = "network-down"

    /// What `FM_SIMULATE` asks for now. A word that is none of the states asks for nothing, which is said once.
    package static var current: SimulatedState? { state(in: ProcessInfo.processInfo.environment) }

    package static func state(in environment: [String: String]) -> SimulatedState? {
        guard let text = environment["FM_SIMULATE"], !text.isEmpty else { return nil }
        if let state = SimulatedState(rawValue: text) { return state }
        _ = printedComplaint
        return nil
    }

    /// What is wrong with `FM_SIMULATE`; nil when it is one of the states or is not set.
    package static func complaint(about environment: [String: String]) -> String? {
        guard let text = environment["FM_SIMULATE"], !text.isEmpty, SimulatedState(rawValue: text) == nil else {
            return nil
        }
        return "FM_SIMULATE must be one of \(names), not '\(text)'"
    }

    private static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// Why the model of this machine cannot be used in this state; nil where it can.
    package var systemModelReason: SystemLanguageModel.Availability.UnavailableReason? {
        switch self {
        case .deviceNotEligible: .deviceNotEligible
        case .switchedOff: .appleIntelligenceNotEnabled
        case .notReady: .modelNotReady
        case .approachingQuota, .quotaReached, .networkDown: nil
        }
    }

    private static let printedComplaint: Void =
        FileHandle.standardError.write(Data("FoundationModels: FM_SIMULATE is none of \(names).\n".utf8))
}

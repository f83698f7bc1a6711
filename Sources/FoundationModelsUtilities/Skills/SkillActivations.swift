public import Observation
import Synchronization

/// Which skills are active. Give one to ``Skills``; watch it to show what the model does.
public final class SkillActivations: Sendable, Observable {
    private let registrar = ObservationRegistrar()
    private let names = Mutex<[String]>([])

    public init() {}

    /// The names of the active skills, in the order in which they were activated.
    public var activeSkillNames: [String] {
        registrar.access(self, keyPath: \.activeSkillNames)
        return names.withLock { $0 }
    }

    public func isActive(_ name: String) -> Bool { activeSkillNames.contains(name) }

    public func activate(_ name: String) {
        change { names in
            guard !names.contains(name) else { return false }
            names.append(name)
            return true
        }
    }

    public func deactivate(_ name: String) {
        change { names in
            guard let index = names.firstIndex(of: name) else { return false }
            names.remove(at: index)
            return true
        }
    }

    /// - Parameter change: Whether anything changed; observers hear of nothing else.
    private func change(_ change: (inout [String]) -> Bool) {
        guard names.withLock({ change(&$0) }) else { return }
        registrar.withMutation(of: self, keyPath: \.activeSkillNames) {}
    }
}

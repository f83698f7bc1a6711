extension LanguageModelSession {
    /// Reads and writes a value of the session that the code runs for: in a tool, in dynamic instructions, in a profile or in a callback.
    ///
    /// Elsewhere there is no session: reading gives the value's default, writing has no effect beyond the wrapper.
    @propertyWrapper
    public struct SessionProperty<Value> {
        private let keyPath: ReferenceWritableKeyPath<SessionPropertyValues, Value>
        private let detached = SessionPropertyValues()

        public init(_ keyPath: ReferenceWritableKeyPath<SessionPropertyValues, Value>) {
            self.keyPath = keyPath
        }

        public var wrappedValue: Value {
            get { values[keyPath: keyPath] }
            nonmutating set { values[keyPath: keyPath] = newValue }
        }

        private var values: SessionPropertyValues { SessionContext.current?.values ?? detached }
    }
}

// A key path is only ever read, and the values guard themselves.
extension LanguageModelSession.SessionProperty: @unchecked Sendable where Value: Sendable {}

extension Tool {
    public typealias SessionProperty = LanguageModelSession.SessionProperty
}

extension DynamicInstructions {
    public typealias SessionProperty = LanguageModelSession.SessionProperty
}

extension LanguageModelSession.DynamicProfile {
    public typealias SessionProperty = LanguageModelSession.SessionProperty
}

extension LanguageModelSession.DynamicProfileModifier {
    public typealias SessionProperty = LanguageModelSession.SessionProperty
}

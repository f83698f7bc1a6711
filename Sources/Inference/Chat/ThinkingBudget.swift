/// How long a model may think, in tokens.
package enum ThinkingBudget {
    package static let minimal = 128
    package static let light = 512
    package static let moderate = 2048
    package static let deep = 8192
}

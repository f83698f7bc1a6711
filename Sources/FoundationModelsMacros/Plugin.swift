@_spi(PluginMessage) import SwiftCompilerPluginMessageHandling
import SwiftSyntaxMacros

/// The macros by the type name that `#externalMacro` gives.
struct Provider: PluginProvider {
    func resolveMacro(moduleName: String, typeName: String) throws -> any Macro.Type {
        switch typeName {
        case "GenerableMacro": return GenerableMacro.self
        case "GuideMacro": return GuideMacro.self
        case "SessionPropertyEntryMacro": return SessionPropertyEntryMacro.self
        case "SessionPropertyEntryDefaultValueMacro": return SessionPropertyEntryDefaultValueMacro.self
        default: throw UnknownMacro(name: "\(moduleName).\(typeName)")
        }
    }
}

struct UnknownMacro: Error {
    let name: String
}

@main
struct Plugin {
    static func main() throws {
        try CompilerPluginMessageListener(connection: StandardIOMessageConnection(), provider: Provider()).main()
    }
}

import Foundation
import Testing
import fm

/// The help texts, literally as users see them. After a change that is meant, `fm help COMMAND` writes the new fixture.
@Suite struct HelpTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures")

    @Test(arguments: ["fm"] + CommandTable.commands.map(\.name))
    func helpIsAsItWas(name: String) throws {
        let text = name == "fm" ? CommandTable.helpText : try #require(CommandTable.find(name)).helpText
        let file = Self.folder.appendingPathComponent("help-\(name).txt")
        let expected = try String(contentsOf: file, encoding: .utf8)
        #expect(text == expected)
    }

    @Test func helpFitsATerminal() {
        for command in CommandTable.commands {
            #expect(command.helpText.hasSuffix("\n") && !command.helpText.hasSuffix("\n\n"), "\(command.name)")
            for line in command.helpText.split(separator: "\n") where !line.hasPrefix("usage:") && !line.hasPrefix("  ")
            {
                #expect(line.count <= 100, "\(command.name): \(line)")
            }
        }
        #expect(Set(CommandTable.commands.map(\.name)).count == CommandTable.commands.count)
    }
}

import Foundation
import Testing
import fm

@Suite struct ShellTests {
    private func run(_ program: String, _ arguments: [String], input: String) throws -> (status: Int32, output: String)
    {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        let (inputPipe, outputPipe) = (Pipe(), Pipe())
        process.standardInput = inputPipe
        process.standardOutput = outputPipe
        process.standardError = outputPipe
        try process.run()
        inputPipe.fileHandleForWriting.write(Data(input.utf8))
        try inputPipe.fileHandleForWriting.close()
        let output = outputPipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    /// What bash offers for a command line that ends with the word at hand.
    private func completions(_ words: [String]) throws -> Set<String> {
        let line = words.map { "'\($0)'" }.joined(separator: " ")
        let script = """
            \(ShellCompletion.bash.script)
            COMP_WORDS=(\(line)); COMP_CWORD=\(words.count - 1); _fm; printf '%s\\n' "${COMPREPLY[@]}"
            """
        let result = try run("/bin/bash", ["-s"], input: script)
        #expect(result.status == 0, "\(result.output)")
        return Set(result.output.split(separator: "\n").map(String.init))
    }

    @Test func bashCompletesCommandsAndOptions() throws {
        #expect(try completions(["fm", "re"]) == ["respond"])
        #expect(try completions(["fm", "respond", "--top"]) == ["--top-p", "--top-k"])
        #expect(try completions(["fm", "respond", "--seed", "1"]).isEmpty)
        #expect(try completions(["fm", "serve", "--allow"]) == ["--allow-host", "--allow-origin"])
        #expect(try completions(["fm", "respond", "--file", "/etc/host"]).contains("/etc/hosts"))
    }

    @Test(arguments: ShellCompletion.allCases)
    func everyOptionIsKnown(shell: ShellCompletion) {
        for command in CommandTable.commands {
            #expect(shell.script.contains(command.name), "\(command.name)")
            for option in command.options {
                let name = shell == .fish ? "-l \(option.name.dropFirst(2))" : option.name
                #expect(shell.script.contains(name), "\(command.name) \(option.name)")
            }
        }
    }

    @Test func theManualPageHasEverything() {
        let text = ManualPage.text
        for command in CommandTable.commands {
            let name = command.name.replacing("-", with: "\\-")
            #expect(text.contains(".SS \(name)\n"), "\(command.name)")
        }
        #expect(text.contains(".SH EXIT STATUS") && text.contains("FM_MODEL"))
        // Only requests begin with a point.
        for line in text.split(separator: "\n") where line.hasPrefix(".") {
            #expect(line.wholeMatch(of: /\.(\\"|TH|SH|SS|PP|TP|B|I|RI|nf|fi)( .*)?/) != nil, "\(line)")
        }
    }
}

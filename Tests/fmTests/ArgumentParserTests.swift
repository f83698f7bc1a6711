import FoundationModels
import Testing

import fm

@Suite struct ArgumentParserTests {
    private let command = Command(
        name: "sample", summary: "Sample.",
        options: [
            .init("--model", "-m", value: "NAME", help: "A model."), .init("--json", help: "JSON."),
            .init("--file", "-f", value: "PATH", isRepeatable: true, help: "A file."),
        ], operands: .any
    ) { _, _ in }

    private func error(_ words: String..., operands: Command.Operands = .any) -> String? {
        var command = command
        command.operands = operands
        do throws(UsageError) {
            _ = try ArgumentParser(command).parse(words)
            return nil
        } catch { return error.message }
    }

    @Test(
        arguments: [
            (["--model", "x", "a", "b"], [.option("--model", value: "x"), .operand("a"), .operand("b")]),
            (["-m", "x"], [.option("--model", value: "x")]), (["--model=x=y"], [.option("--model", value: "x=y")]),
            (["--model="], [.option("--model", value: "")]),
            (["a", "--json", "b"], [.operand("a"), .option("--json", value: nil), .operand("b")]),
            (["--", "--json", "--"], [.operand("--json"), .operand("--")]), (["-"], [.operand("-")]),
            ([""], [.operand("")]),
            (["-f", "1", "--file=2"], [.option("--file", value: "1"), .option("--file", value: "2")]),
            // A value may begin with a dash as long as it is no option.
            (["--model", "-1"], [.option("--model", value: "-1")]),
            (["--model", "-"], [.option("--model", value: "-")]),
        ] as [([String], [Arguments.Argument])])
    func wordsAreRead(words: [String], expected: [Arguments.Argument]) throws {
        #expect(try ArgumentParser(command).parse(words).list == expected)
    }

    @Test func mistakesAreNamed() {
        #expect(
            error("--modle", "x")
                == "'sample' has no option --modle, did you mean --model? Text that begins with a dash goes after --.")
        #expect(error("--xyzzy") == "'sample' has no option --xyzzy. Text that begins with a dash goes after --.")
        #expect(error("--xyzzy", operands: .none) == "'sample' has no option --xyzzy.")
        #expect(error("-x") == "'sample' has no option -x. Text that begins with a dash goes after --.")
        #expect(error("--model") == "--model needs a value: --model NAME")
        #expect(error("--model", "--json") == "--model needs a value: --model NAME")
        #expect(error("-m", "--", "x") == "--model needs a value: --model NAME")
        #expect(error("--json=1") == "--json takes no value")
        #expect(error("--json", "--json") == "--json is given twice")
        #expect(error("-m", "x", "--model", "y") == "--model is given twice")
        #expect(error("x", operands: .none) == "'sample' takes no argument 'x'")
        #expect(error(operands: .one("a name")) == "'sample' needs a name")
        #expect(error("x", "y", operands: .one("name")) == "'sample' takes one name, but 'y' follows 'x'")
        // Help is shown whatever else is missing.
        #expect(error("--help", operands: .one("a name")) == nil)
    }

    @Test func commandsAreFound() throws {
        func error(_ words: String...) -> String? {
            do throws(UsageError) {
                _ = try CommandTable.parse(words)
                return nil
            } catch { return error.message }
        }
        #expect(error()?.hasPrefix("a command is missing: respond, chat,") == true)
        #expect(error("respnd") == "there is no command 'respnd', did you mean 'respond'?")
        #expect(error("qqqqqq") == "there is no command 'qqqqqq'. 'fm --help' lists the commands.")
        #expect(error("--josn") == "there is no option '--josn'. 'fm --help' lists the commands.")
        #expect(error("--help") == nil && error("help") == nil && error("help", "pull") == nil)
        #expect(try CommandTable.parse(["help"]) == nil)
        #expect(try CommandTable.parse(["help", "pull"])?.0.name == "pull")
        #expect(try CommandTable.parse(["--version"])?.0.name == "version")
    }

    @Test func numbersAreHeldToTheirRanges() throws {
        func arguments(_ value: String) -> Arguments { Arguments([.option("--n", value: value)]) }
        #expect(try arguments("5").integer("--n", in: 1...9) == 5)
        #expect(try arguments("5").integer("--other", in: 1...9) == nil)
        #expect(try arguments("0.5").number("--n", in: 0...2) == 0.5)
        for text in ["", "0", "10", "five", "5.5", "99999999999999999999"] {
            #expect(throws: UsageError("--n takes a whole number, 1 to 9, not '\(text)'")) {
                try arguments(text).integer("--n", in: 1...9)
            }
        }
        for text in ["", "2.1", "-1", "nan", "inf", "x"] {
            #expect(throws: UsageError.self) { try arguments(text).number("--n", in: 0...2) }
        }
    }
}

@Suite struct SamplingOptionsTests {
    private func read(_ words: String...) throws -> String {
        let options = try SamplingOptions.read(ArgumentParser(.respond).parse(words))
        let mode = options.samplingMode.map { "\($0.kind)" } ?? "none"
        return
            "\(mode) \(options.temperature.map { "\($0)" } ?? "-") \(options.maximumResponseTokens.map { "\($0)" } ?? "-")"
    }

    @Test func optionsBecomeSampling() throws {
        #expect(try read() == "none - -")
        #expect(try read("--greedy", "--max-tokens", "5") == "greedy - 5")
        #expect(try read("--temperature", "0.5", "--top-k", "40", "--seed", "1").contains("0.5"))
        #expect(try read("--top-k", "40") != read("--top-k", "41"))
        #expect(try read("--top-p", "0.9", "--seed", "1") != read("--top-p", "0.9", "--seed", "2"))
        #expect(try read("--seed", "18446744073709551615") != read())
    }

    @Test(arguments: [
        ["--greedy", "--top-k", "4"], ["--top-p", "0.1", "--top-k", "4"], ["--greedy", "--seed", "4"],
        ["--seed", "-1"],
        ["--top-k", "0"], ["--top-p", "1.5"], ["--temperature", "-0.1"], ["--max-tokens", "0"],
    ]) func whatCannotBeIsRefused(words: [String]) {
        #expect(throws: UsageError.self) { try SamplingOptions.read(ArgumentParser(.respond).parse(words)) }
    }
}

import FoundationModelsMacros
import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import Testing

/// What a macro makes of a source text.
struct Expansion {
    let source: String
    /// `LINE:COLUMN severity: message`, each followed by its fix-its as `fix-it: message`.
    let diagnostics: [String]
    /// The source with all fix-its applied.
    let fixedSource: String
}

func expand(_ source: String) -> Expansion {
    let macros: [String: any Macro.Type] = [
        "Generable": GenerableMacro.self,
        "Guide": GuideMacro.self,
        "SessionPropertyEntry": SessionPropertyEntryMacro.self,
    ]
    let file = Parser.parse(source: source)
    let context = BasicMacroExpansionContext(
        sourceFiles: [file: .init(moduleName: "Test", fullFilePath: "Test.swift")])
    let expanded = file.expand(
        macroSpecs: macros.mapValues { MacroSpec(type: $0, conformances: ["Generable"]) },
        contextGenerator: {
            BasicMacroExpansionContext(sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
        })
    var lines: [String] = []
    var edits: [(range: Range<Int>, text: String)] = []
    for diagnostic in context.diagnostics {
        let place = context.location(for: diagnostic.position, anchoredAt: diagnostic.node, fileName: "Test.swift")
        lines.append("\(place.line):\(place.column) \(diagnostic.diagMessage.severity): \(diagnostic.message)")
        for fixIt in diagnostic.fixIts {
            lines.append("fix-it: \(fixIt.message.message)")
            for case .replace(let old, let new) in fixIt.changes {
                // Nodes that the macro sees are detached; they carry their place in the file.
                let start = context.location(
                    for: old.positionAfterSkippingLeadingTrivia, anchoredAt: old, fileName: "Test.swift")
                edits.append((start.offset..<start.offset + old.trimmedLength.utf8Length, new.trimmedDescription))
            }
        }
    }
    var bytes = Array(source.utf8)
    for edit in edits.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
        bytes.replaceSubrange(edit.range, with: Array(edit.text.utf8))
    }
    return Expansion(
        source: expanded.description, diagnostics: lines, fixedSource: String(decoding: bytes, as: UTF8.self))
}

func expectExpansion(
    of source: String, to expected: String, sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    let expansion = expand(source)
    #expect(expansion.diagnostics == [], sourceLocation: sourceLocation)
    let errors = Parser.parse(source: expansion.source).hasError
    #expect(!errors, "the expansion does not parse", sourceLocation: sourceLocation)
    #expect(expansion.source == expected, sourceLocation: sourceLocation)
}

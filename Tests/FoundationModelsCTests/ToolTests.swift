import CFoundationModels
import FoundationModels
import Synchronization
import Testing

import FoundationModelsC

/// Calls that have arrived at C, as (arguments, call).
private let arrived = Mutex<[(arguments: String, call: UInt32)]>([])

private let note: @convention(c) (UnsafeRawPointer?, UInt32) -> Void = { arguments, call in
    let json = taken(FMGeneratedContentGetJSONString(arguments)) ?? ""
    FMRelease(arguments)
    arrived.withLock { $0.append((json, call)) }
}

@Suite(.serialized) struct ToolTests {
    private func makeTool(
        _ name: String = "find", _ description: String = "Finds a word."
    ) throws -> (handle: UnsafeRawPointer?, tool: BridgedTool) {
        let schema = FMGenerationSchemaCreate("Arguments", nil)
        let property = FMGenerationSchemaPropertyCreate("word", nil, "string", false)
        FMGenerationSchemaAddProperty(schema, property)
        let made = reporting { FMBridgedToolCreate(name, description, schema, note, $0, $1) }
        #expect(made.status == 0)
        FMRelease(property)
        FMRelease(schema)
        return (made.value, try HandleTable.shared.object(made.value, as: BridgedTool.self))
    }

    private func call(of arguments: String) async -> UInt32? {
        for _ in 0..<5000 {
            if let found = arrived.withLock({ $0.first { $0.arguments == arguments } }) { return found.call }
            try? await Task.sleep(for: .milliseconds(2))
        }
        return nil
    }

    private func arguments(_ word: String) throws -> GeneratedContent {
        try GeneratedContent(json: "{\"word\": \"\(word)\"}")
    }

    @Test func anAnswerEndsItsCallOnce() async throws {
        let (handle, tool) = try makeTool()
        async let answer = tool.call(arguments: arguments("one"))
        async let other = tool.call(arguments: arguments("two"))
        let one = try #require(await call(of: "{\"word\": \"one\"}"))
        let two = try #require(await call(of: "{\"word\": \"two\"}"))
        FMBridgedToolFinishCall(handle, two, "second")
        FMBridgedToolFinishCall(handle, two, "again")
        FMBridgedToolFinishCall(handle, one, "first")
        #expect(try await answer == "first")
        #expect(try await other == "second")
        FMRelease(handle)
    }

    @Test func outputThatIsNoTextFailsTheCall() async throws {
        let (handle, tool) = try makeTool()
        let content = try arguments("bad")
        let answer = Task { try await tool.call(arguments: content) }
        FMBridgedToolFinishCall(handle, try #require(await call(of: "{\"word\": \"bad\"}")), notUTF8)
        await #expect(throws: InvalidArgument.self) { try await answer.value }
        FMRelease(handle)
    }

    @Test func cancellingEndsACallThatIsNeverAnswered() async throws {
        let (handle, tool) = try makeTool()
        let content = try arguments("never")
        let task = Task { try await tool.call(arguments: content) }
        let call = try #require(await call(of: "{\"word\": \"never\"}"))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        // Too late, and without harm.
        FMBridgedToolFinishCall(handle, call, "late")
        FMRelease(handle)
    }

    @Test func aReleasedToolIsNotCalled() async throws {
        let (handle, tool) = try makeTool("gone")
        let content = try arguments("waiting")
        let waiting = Task { try await tool.call(arguments: content) }
        _ = try #require(await call(of: "{\"word\": \"waiting\"}"))
        FMRelease(handle)
        await #expect(throws: BridgedTool.Released.self) { try await waiting.value }
        await #expect(throws: BridgedTool.Released.self) { try await tool.call(arguments: arguments("after")) }
        #expect(arrived.withLock { $0.allSatisfy { $0.arguments != "{\"word\": \"after\"}" } })
    }

    @Test func instancesOfOneToolAreOne() throws {
        let (first, second) = (try makeTool(), try makeTool())
        let (other, namesake) = (try makeTool("seek"), try makeTool("find", "Finds a number."))
        let handles = [first.handle, second.handle, other.handle, namesake.handle]
        let tools = try BridgedTool.tools(handles, 4)
        #expect(
            tools.map { ObjectIdentifier($0 as AnyObject) }
                == [first, other, namesake].map { ObjectIdentifier($0.tool) })
        for handle in handles { FMRelease(handle) }
    }

    @Test func badToolsAreRefused() {
        let schema = FMGenerationSchemaCreate("Arguments", nil)
        #expect(reporting { FMBridgedToolCreate("find", "Finds.", schema, nil, $0, $1) }.status == 11)
        #expect(reporting { FMBridgedToolCreate(nil, "Finds.", schema, note, $0, $1) }.status == 11)
        #expect(reporting { FMBridgedToolCreate("find", notUTF8, schema, note, $0, $1) }.status == 11)
        #expect(reporting { FMBridgedToolCreate("find", "Finds.", stranger, note, $0, $1) }.status == 11)
        let property = FMGenerationSchemaPropertyCreate("word", nil, "Nothing", false)
        FMGenerationSchemaAddProperty(schema, property)
        #expect(reporting { FMBridgedToolCreate("find", "Finds.", schema, note, $0, $1) }.status == 10)
        FMRelease(property)
        FMRelease(schema)
    }
}

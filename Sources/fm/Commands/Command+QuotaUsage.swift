import Foundation
import FoundationModels
import JSON

extension Command {
    package static let quotaUsage = Command(
        name: "quota-usage",
        summary: "Tell how much of the server's quota has been used.",
        usage: ["[--json]"],
        options: [Option("--json", help: "Write it as JSON.")],
        discussion: """
            The server is that of Private Cloud Compute, and is asked. Without one, the exit status is 5.
            """
    ) { arguments, context in
        let model = PrivateCloudComputeLanguageModel(environment: context.environment)
        guard let usage = try await model.askForQuotaUsage() else {
            throw Failure(.unavailable, "the server says nothing about a quota")
        }
        let report = QuotaReport(usage)
        context.output.line(arguments.has("--json") ? report.json.text(indent: 2) : report.text)
    }
}

/// A quota in words.
package struct QuotaReport {
    private let usage: PrivateCloudComputeLanguageModel.QuotaUsage

    package init(_ usage: PrivateCloudComputeLanguageModel.QuotaUsage) { self.usage = usage }

    private var status: String {
        switch usage.status {
        case .belowLimit(let below): below.isApproachingLimit ? "approaching the limit" : "below the limit"
        case .limitReached: "limit reached"
        }
    }

    private var reset: String? { usage.resetDate?.formatted(.iso8601) }

    package var text: String { status + (reset.map { ", counting begins anew at \($0)" } ?? "") }

    package var json: JSONValue {
        [
            "status": .string(status), "is_limit_reached": .bool(usage.isLimitReached),
            "reset_date": reset.map(JSONValue.string) ?? .null,
        ]
    }
}

import Inference

/// What answers a command: a model file of this machine, or the server of Private Cloud Compute.
package enum ChosenModel: Sendable {
    case file(ModelStore.Model)
    case privateCloud

    /// The name of the server on the command line.
    static let privateCloudName = "pcc"

    var name: String {
        switch self {
        case .file(let model): model.name
        case .privateCloud: Self.privateCloudName
        }
    }

    /// Where it is, for readers.
    var place: String {
        switch self {
        case .file(let model): model.path
        case .privateCloud: "the server of Private Cloud Compute"
        }
    }
}

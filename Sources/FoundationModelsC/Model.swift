import CFoundationModels
import FoundationModels

/// A model, for C.
final class HandledModel: HandledObject {
    static let kind = "model"
    let model: SystemLanguageModel

    init(_ model: SystemLanguageModel) { self.model = model }

    /// The model of a handle, or the default for NULL.
    static func orDefault(_ handle: UnsafeRawPointer?) throws(InvalidArgument) -> SystemLanguageModel {
        guard let handle else { return .default }
        return try HandleTable.shared.object(handle, as: HandledModel.self).model
    }
}

@_cdecl("FMSystemLanguageModelGetDefault")
public func defaultModel() -> UnsafeRawPointer? { HandleTable.shared.add(HandledModel(.default)) }

@_cdecl("FMSystemLanguageModelCreate")
public func createModel(
    _ useCase: FMSystemLanguageModelUseCase, _ guardrails: FMSystemLanguageModelGuardrails
) -> UnsafeRawPointer? {
    let useCases: [UInt32: SystemLanguageModel.UseCase] = [
        FMSystemLanguageModelUseCaseGeneral.rawValue: .general,
        FMSystemLanguageModelUseCaseContentTagging.rawValue: .contentTagging,
    ]
    let allGuardrails: [UInt32: SystemLanguageModel.Guardrails] = [
        FMSystemLanguageModelGuardrailsDefault.rawValue: .default,
        FMSystemLanguageModelGuardrailsPermissiveContentTransformations.rawValue: .permissiveContentTransformations,
    ]
    if useCases[useCase.rawValue] == nil {
        warn("there is no use case \(useCase.rawValue); the model is made for general use.")
    }
    if allGuardrails[guardrails.rawValue] == nil {
        warn("there are no guardrails \(guardrails.rawValue); the model gets the default ones.")
    }
    let model = SystemLanguageModel(
        useCase: useCases[useCase.rawValue] ?? .general, guardrails: allGuardrails[guardrails.rawValue] ?? .default)
    return HandleTable.shared.add(HandledModel(model))
}

@_cdecl("FMSystemLanguageModelIsAvailable")
public func isModelAvailable(
    _ model: UnsafeRawPointer?, _ reason: UnsafeMutablePointer<FMSystemLanguageModelUnavailableReason>?
) -> Bool {
    guard let model = try? HandleTable.shared.object(model, as: HandledModel.self).model else {
        reason?.pointee = FMSystemLanguageModelUnavailableReasonUnknown
        return false
    }
    guard case .unavailable(let why) = model.availability else { return true }
    reason?.pointee =
        switch why {
        case .appleIntelligenceNotEnabled: FMSystemLanguageModelUnavailableReasonAppleIntelligenceNotEnabled
        case .deviceNotEligible: FMSystemLanguageModelUnavailableReasonDeviceNotEligible
        case .modelNotReady: FMSystemLanguageModelUnavailableReasonModelNotReady
        }
    return false
}

@_cdecl("FMSystemLanguageModelGetContextSize")
public func contextSize(_ model: UnsafeRawPointer?) -> Int32 {
    guard let model = try? HandleTable.shared.object(model, as: HandledModel.self).model else { return 0 }
    return Int32(clamping: model.contextSize)
}

import Inference

/// What `--cache-type` of a measurement says.
func cacheTypeOption(in arguments: [String]) throws -> CacheType {
    guard arguments.contains("--cache-type") else { return .f16 }
    guard let type = option("cache-type", in: arguments).flatMap(CacheType.init(rawValue:)) else {
        throw MeasureError.usage("--cache-type \(CacheType.names)")
    }
    return type
}

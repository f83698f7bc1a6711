// swift-tools-version: 6.2
import PackageDescription

// Small programs as a user writes them: nothing but the public API, and the package as a dependency.
let package = Package(
    name: "Examples",
    dependencies: [.package(name: "FoundationModels", path: "..")],
    targets: ["Hello", "TripSummary", "RestaurantSearch", "LongChat"].map { name in
        .executableTarget(
            name: name,
            dependencies: [.product(name: "FoundationModels", package: "FoundationModels")],
            swiftSettings: [.swiftLanguageMode(.v6)])
    }
)

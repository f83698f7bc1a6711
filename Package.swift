// swift-tools-version: 6.2
import CompilerPluginSupport
import Foundation
import PackageDescription

// The macro plug-in is built against the SwiftSyntax modules that every Swift toolchain carries for its own macros, so
// that nothing of swift-syntax is compiled. They lie in `lib/swift/host` of the toolchain whose PackageDescription
// library this very manifest is linked to.
let hostLibraries: String = {
    func host(besideLibraryFolderOf path: String, up levels: Int) -> String {
        var url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        for _ in 0..<levels { url.deleteLastPathComponent() }
        return url.path
    }
    // lib/swift/pm/ManifestAPI/libPackageDescription.so → lib/swift/host
    let maps = FileManager.default.contents(atPath: "/proc/self/maps").map { String(decoding: $0, as: UTF8.self) } ?? ""
    var candidates = maps.split(separator: "\n").filter { $0.contains("libPackageDescription") }
        .compactMap { line in
            line.firstIndex(of: "/").map { host(besideLibraryFolderOf: String(line[$0...]), up: 3) + "/host" }
        }
    // bin/swiftc → lib/swift/host, for the compiler of the search path.
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    candidates += path.split(separator: ":").map { "\($0)/swiftc" }.filter(FileManager.default.isExecutableFile)
        .map { host(besideLibraryFolderOf: $0, up: 2) + "/lib/swift/host" }
    candidates.append("/usr/lib/swift/host")
    return candidates.first { FileManager.default.fileExists(atPath: "\($0)/SwiftSyntax.swiftmodule") } ?? candidates[0]
}()

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
    name: "FoundationModels",
    products: [
        .library(name: "FoundationModels", targets: ["FoundationModels"]),
        .library(name: "FoundationModelsTesting", targets: ["FoundationModelsTesting"]),
        .library(name: "FoundationModelsUtilities", targets: ["FoundationModelsUtilities"]),
        // The framework for C, and through it for Python: libFoundationModelsC.so.
        .library(name: "FoundationModelsC", type: .dynamic, targets: ["FoundationModelsC"]),
        .executable(name: "fm", targets: ["fm"]),
    ],
    traits: [
        .trait(
            name: "GenerationErrors",
            description:
                "Throw LanguageModelSession.GenerationError, which programs for the framework's 26 generation catch.")
    ],
    targets: [
        // Libraries of the system, each with the Debian package that brings it.
        .systemLibrary(name: "CLibcurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CLibcrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibedit", pkgConfig: "libedit", providers: [.apt(["libedit-dev"])]),
        .systemLibrary(
            name: "CLibmicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),

        // Rooms, lowest first. Imports go downwards only.
        // Optimised in debug builds too: programs are mostly run in debug while they are written, and unoptimised
        // kernels would make every answer many times slower there without being any easier to debug.
        .target(
            name: "CKernels", cSettings: [.unsafeFlags(["-O3"], .when(configuration: .debug))],
            linkerSettings: [.linkedLibrary("m"), .linkedLibrary("pthread")]),
        .target(name: "JSON", swiftSettings: strict),
        .target(name: "Tokenizers", swiftSettings: strict),
        .target(name: "Jinja", dependencies: ["JSON"], swiftSettings: strict),
        .target(name: "GuidedGeneration", dependencies: ["JSON"], swiftSettings: strict),
        .target(name: "Networking", dependencies: ["CLibcurl"], swiftSettings: strict),
        .target(
            name: "Inference",
            dependencies: [
                "CKernels", "CLibcurl", "CLibcrypto", "JSON", "Tokenizers", "Jinja", "GuidedGeneration",
            ],
            swiftSettings: strict),
        .macro(
            name: "FoundationModelsMacros",
            swiftSettings: strict + [.unsafeFlags(["-I", hostLibraries])],
            linkerSettings: [
                .unsafeFlags(["-L", hostLibraries, "-Xlinker", "-rpath", "-Xlinker", hostLibraries])
            ]),
        .target(
            name: "FoundationModels",
            dependencies: ["JSON", "GuidedGeneration", "Inference", "Networking", "FoundationModelsMacros"],
            // The version of Apple's module with this API, for `#if canImport(FoundationModels, _version: 2)`. A module
            // without one is taken for any version that is asked for, those to come too.
            swiftSettings: strict + [.unsafeFlags(["-user-module-version", "2.0"])]),
        // Models of other servers, skills and ways to keep a history short.
        .target(
            name: "FoundationModelsUtilities", dependencies: ["FoundationModels", "JSON", "Networking"],
            swiftSettings: strict),
        // A scripted model, for the tests of apps and for our own.
        .target(name: "FoundationModelsTesting", dependencies: ["FoundationModels"], swiftSettings: strict),
        // The Chat Completions server: HTTP on libmicrohttpd, answers from the engine.
        .target(
            name: "FoundationModelsServer",
            dependencies: ["CLibmicrohttpd", "CLibcrypto", "Inference", "GuidedGeneration", "Tokenizers", "JSON"],
            swiftSettings: strict),
        // The entry points that C calls, declared in a header of their own.
        .systemLibrary(name: "CFoundationModels"),
        .target(
            name: "FoundationModelsC", dependencies: ["CFoundationModels", "FoundationModels"], swiftSettings: strict),
        .executableTarget(
            name: "fm",
            dependencies: [
                "CLibedit", "FoundationModels", "FoundationModelsServer", "Inference", "JSON", "GuidedGeneration",
            ],
            swiftSettings: strict),

        // Measures what the figures need from inside the rooms; never part of a product.
        .executableTarget(
            name: "measure",
            dependencies: [
                "CKernels", "JSON", "Tokenizers", "Jinja", "GuidedGeneration", "Inference", "FoundationModels",
                "FoundationModelsTesting", "FoundationModelsUtilities",
            ],
            path: "Benchmarks/Measure",
            swiftSettings: strict),

        // Tests mirror the rooms. They reach internals through `package` access, so that they run on release builds.
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(
            name: "CKernelsTests", dependencies: ["CKernels"], exclude: ["make_blocks.py"], swiftSettings: strict),
        .testTarget(name: "JSONTests", dependencies: ["JSON"], swiftSettings: strict),
        .testTarget(
            name: "TokenizersTests", dependencies: ["Tokenizers", "JSON", "TestSupport"], exclude: ["Fixtures"],
            swiftSettings: strict),
        .testTarget(
            name: "JinjaTests", dependencies: ["Jinja", "JSON"], resources: [.copy("Fixtures")],
            swiftSettings: strict),
        .testTarget(name: "NetworkingTests", dependencies: ["Networking", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "FoundationModelsUtilitiesTests",
            dependencies: [
                "FoundationModelsUtilities", "FoundationModels", "FoundationModelsTesting", "Networking", "JSON",
                "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "GuidedGenerationTests", dependencies: ["GuidedGeneration", "JSON", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "InferenceTests",
            dependencies: ["Inference", "CKernels", "Tokenizers", "JSON", "Jinja", "GuidedGeneration", "TestSupport"],
            resources: [.copy("Fixtures")],
            swiftSettings: strict),
        .testTarget(
            name: "FoundationModelsMacrosTests",
            dependencies: ["FoundationModelsMacros"],
            swiftSettings: strict + [.unsafeFlags(["-I", hostLibraries])],
            linkerSettings: [
                .unsafeFlags(["-L", hostLibraries, "-Xlinker", "-rpath", "-Xlinker", hostLibraries])
            ]),
        // Programs whose code is on the main actor unless it says otherwise.
        .testTarget(
            name: "MainActorProgramTests",
            dependencies: ["FoundationModels"],
            swiftSettings: strict + [.defaultIsolation(MainActor.self)]),
        .testTarget(
            name: "FoundationModelsTests",
            dependencies: [
                "FoundationModels", "FoundationModelsTesting", "Inference", "JSON", "GuidedGeneration", "TestSupport",
            ],
            resources: [.copy("Fixtures")],
            swiftSettings: strict),
        .testTarget(
            name: "FoundationModelsServerTests",
            dependencies: ["FoundationModelsServer", "Inference", "Tokenizers", "JSON", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "FoundationModelsCTests",
            dependencies: ["FoundationModelsC", "CFoundationModels", "FoundationModels"],
            swiftSettings: strict),
        .testTarget(
            name: "fmTests",
            dependencies: [
                "fm", "FoundationModels", "FoundationModelsServer", "FoundationModelsTesting", "Inference", "JSON",
                "TestSupport",
            ],
            exclude: ["Fixtures", "test_chat_terminal.py"], swiftSettings: strict),
    ]
)

// swift-tools-version: 6.3
import CompilerPluginSupport
import Foundation
import PackageDescription

// As the root package the macros build in seconds against the toolchain's own swift-syntax. SwiftPM refuses the
// flags for that in a versioned dependency, so there the manifest asks for the swift-syntax package instead.
let isDependency =
  Context.packageDirectory == "/" || Context.packageDirectory.contains("/checkouts/")
  || Context.packageDirectory.contains("/registry/downloads/")

/// The toolchain's `lib/swift/host`: found from this very manifest, whose process has the toolchain's
/// libPackageDescription mapped, because `swift` on PATH may be a proxy that lives elsewhere. Nil off Linux.
let toolchainHost: String? = {
  let library = "/pm/ManifestAPI/libPackageDescription.so"
  // Read through a file handle: `String(contentsOfFile:)` stops at the first short read, after 4 KB of them.
  guard let maps = try? FileHandle(forReadingAtPath: "/proc/self/maps")?.readToEnd(),
    let line = String(decoding: maps, as: UTF8.self).split(separator: "\n").first(where: { $0.hasSuffix(library) }),
    let start = line.firstIndex(of: "/")
  else { return nil }
  return line[start...].dropLast(library.count) + "/host"
}()

let swift: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("ExistentialAny"),
]

/// Of the tool and its shell: what is asked runs where it was asked for, without a hop to another thread.
let staying: [SwiftSetting] = swift + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

let macros: Target
let packageDependencies: [Package.Dependency]
if let host = toolchainHost, !isDependency {
  packageDependencies = []
  macros = .macro(
    name: "QuireMacros",
    swiftSettings: [.swiftLanguageMode(.v6), .define("TOOLCHAIN_SYNTAX"), .unsafeFlags(["-I", host])],
    linkerSettings: [
      .unsafeFlags(
        ["-L", host, "-Xlinker", "-rpath", "-Xlinker", host]
          + [
            "SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacros", "SwiftSyntaxMacroExpansion", "SwiftDiagnostics",
            "SwiftParser", "SwiftOperators", "SwiftBasicFormat", "SwiftCompilerPluginMessageHandling",
          ].map { "-l\($0)" })
    ])
} else {
  packageDependencies = [.package(url: "https://github.com/swiftlang/swift-syntax.git", "600.0.0"..<"605.0.0")]
  macros = .macro(
    name: "QuireMacros",
    dependencies: [
      .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
      .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
    ],
    swiftSettings: [.swiftLanguageMode(.v6)])
}

let package = Package(
  name: "Quire",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "Quire", targets: ["Quire"]),
    .library(name: "QuireMigration", targets: ["QuireMigration"]),
    .library(name: "QuireShell", targets: ["QuireShell"]),
    .library(name: "QuireTool", targets: ["QuireTool"]),
    .library(name: "Catalog", targets: ["Catalog"]),
    .plugin(name: "EmbedMigrations", targets: ["EmbedMigrations"]),
    .executable(name: "quire", targets: ["QuireCommand"]),
  ],
  dependencies: packageDependencies,
  targets: [
    .target(name: "CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
    .target(name: "QuireRow", swiftSettings: swift),
    .target(name: "QuireSQLite", dependencies: ["CSQLite", "QuireRow"], swiftSettings: swift),
    .target(name: "QuireShared", dependencies: ["QuireRow", "QuireSQLite"], swiftSettings: swift),
    macros,
    .target(
      name: "QuireModel", dependencies: ["QuireRow", "QuireSQLite", "QuireShared", "QuireMacros"], swiftSettings: swift),
    .target(name: "QuireLive", dependencies: ["QuireRow", "QuireSQLite", "QuireModel"], swiftSettings: swift),
    .target(
      name: "Quire", dependencies: ["QuireRow", "QuireSQLite", "QuireShared", "QuireModel", "QuireLive"],
      swiftSettings: swift),
    .target(name: "QuireMigration", dependencies: ["QuireRow", "QuireSQLite", "QuireShared"], swiftSettings: swift),
    .target(
      name: "QuireShell", dependencies: ["QuireRow", "QuireSQLite", "QuireModel", "QuireLive", "QuireMigration"],
      swiftSettings: staying),
    .target(name: "LineEditor", swiftSettings: swift),
    .target(
      name: "QuireTool",
      dependencies: ["LineEditor", "Quire", "QuireMigration", "QuireShared", "QuireShell", "QuireSQLite"],
      swiftSettings: staying),
    .executableTarget(name: "EmbedMigrationsTool", swiftSettings: swift),
    .plugin(name: "EmbedMigrations", capability: .buildTool(), dependencies: ["EmbedMigrationsTool"]),
    .target(
      name: "Catalog", dependencies: ["Quire"], resources: [.copy("Sample"), .copy("Migrations")], swiftSettings: swift),
    .executableTarget(
      name: "QuireCommand", dependencies: ["Quire", "QuireMigration", "QuireShell", "QuireTool", "Catalog"],
      swiftSettings: staying),
    .executableTarget(
      name: "CatalogExample", dependencies: ["Quire", "Catalog"], path: "Examples/Catalog", swiftSettings: swift),
    .executableTarget(
      name: "ClusterExample", dependencies: ["LocalEtcd", "Quire", "QuireShared", "QuireSQLite"],
      path: "Examples/Cluster",
      swiftSettings: swift),
    .executableTarget(
      name: "lending", dependencies: ["QuireMigration", "QuireTool"], path: "Examples/Lending", exclude: ["Migrations"],
      swiftSettings: swift, plugins: ["EmbedMigrations"]),
    .executableTarget(
      name: "DeskExample", dependencies: ["Quire", "QuireMigration"], path: "Examples/Desk", exclude: ["Migrations"],
      swiftSettings: swift, plugins: ["EmbedMigrations"]),
    .executableTarget(
      name: "QuireBench",
      dependencies: ["CSQLite", "LocalEtcd", "Quire", "QuireMigration", "QuireModel", "QuireShared", "QuireSQLite"],
      path: "Benchmarks",
      swiftSettings: swift
    ),
    .testTarget(name: "QuireRowTests", dependencies: ["CSQLite", "QuireRow", "TestSupport"], swiftSettings: swift),
    .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: swift),
    .testTarget(
      name: "QuireSQLiteTests", dependencies: ["CSQLite", "FaultyFiles", "QuireRow", "QuireSQLite", "TestSupport"],
      swiftSettings: swift),
    .target(
      name: "FaultyFiles", dependencies: ["CSQLite", "QuireSQLite"], path: "Tests/FaultyFiles", swiftSettings: swift),
    .target(name: "LocalEtcd", dependencies: ["QuireShared"], path: "Tests/LocalEtcd", swiftSettings: swift),
    .testTarget(
      name: "QuireSharedTests",
      dependencies: [
        "ClusterExample", "FaultyFiles", "LocalEtcd", "Quire", "QuireMigration", "QuireModel", "QuireRow",
        "QuireSQLite", "QuireShared", "TestSupport",
      ],
      swiftSettings: swift),
    .testTarget(
      name: "QuireModelTests",
      dependencies: ["CSQLite", "Quire", "QuireModel", "QuireRow", "QuireSQLite", "TestSupport"],
      swiftSettings: swift),
    .testTarget(
      name: "QuireMacrosTests", dependencies: ["Quire", "QuireMigration", "TestSupport"], swiftSettings: swift),
    .testTarget(name: "SwiftDataStyleTests", dependencies: ["Quire"], swiftSettings: [.swiftLanguageMode(.v6)]),
    // As another package's: what is `package` here is not seen there.
    .target(
      name: "OwnNames", dependencies: ["Quire"], path: "Tests/OwnNames", packageAccess: false,
      swiftSettings: [.swiftLanguageMode(.v6)]),
    // As of a newer project.
    .target(
      name: "OwnSettings", dependencies: ["Quire"], path: "Tests/OwnSettings", packageAccess: false,
      swiftSettings: swift + [
        .defaultIsolation(MainActor.self), .strictMemorySafety(),
        .enableUpcomingFeature("InferIsolatedConformances"), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
      ]),
    .testTarget(
      name: "AppStyleTests", dependencies: ["OwnNames", "OwnSettings", "Quire"], packageAccess: false,
      swiftSettings: [.swiftLanguageMode(.v6)]),
    .target(name: "Transfers", dependencies: ["Quire"], path: "Tests/Transfers", swiftSettings: swift),
    .executableTarget(
      name: "OtherWriter", dependencies: ["Quire", "Transfers"], path: "Tests/OtherWriter", swiftSettings: swift),
    .testTarget(
      name: "QuireLiveTests",
      dependencies: [
        "OtherWriter", "Quire", "QuireLive", "QuireModel", "QuireRow", "QuireSQLite", "TestSupport", "Transfers",
      ],
      exclude: ["Corpus"], swiftSettings: swift),
    .testTarget(
      name: "QuireMigrationTests", dependencies: ["QuireMigration", "QuireSQLite", "QuireRow", "TestSupport"],
      swiftSettings: swift),
    .testTarget(
      name: "CatalogTests", dependencies: ["Catalog", "Quire"], swiftSettings: swift),
    .testTarget(
      name: "QuireShellTests",
      dependencies: [
        "Catalog", "Quire", "QuireShell", "QuireModel", "QuireLive", "QuireSQLite", "QuireRow", "TestSupport",
      ],
      exclude: ["Errors.txt"], swiftSettings: swift),
    .target(name: "PseudoTerminal", dependencies: ["LineEditor"], path: "Tests/PseudoTerminal", swiftSettings: swift),
    .testTarget(name: "LineEditorTests", dependencies: ["LineEditor", "PseudoTerminal"], swiftSettings: swift),
    .testTarget(
      name: "QuireToolTests", dependencies: ["QuireTool", "QuireMigration", "QuireSQLite"], swiftSettings: swift),
    .testTarget(
      name: "QuireCommandTests",
      dependencies: ["LocalEtcd", "QuireCommand", "Quire", "lending", "PseudoTerminal", "TestSupport"],
      swiftSettings: swift),
    .testTarget(
      name: "ExampleTests",
      dependencies: ["CatalogExample", "DeskExample", "Quire", "QuireMigration", "QuireModel", "TestSupport"],
      swiftSettings: swift),
    .testTarget(name: "ReadmeTests", dependencies: ["Quire"], packageAccess: false, swiftSettings: swift),
  ]
)

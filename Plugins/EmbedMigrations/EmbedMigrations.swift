import Foundation
import PackagePlugin

/// Puts the migrations of a folder into the program, as `embeddedMigrations`: of `Migrations/` in the target's own folder,
/// or else in the package's.
@main struct EmbedMigrations: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let folders = [target.directoryURL, context.package.directoryURL].map { $0.appending(path: "Migrations") }
    guard let folder = folders.first(where: { FileManager.default.fileExists(atPath: $0.path) }) else {
      Diagnostics.error("\(target.name) uses EmbedMigrations, and there is no folder \(folders[0].path)")
      return []
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
      $0.hasSuffix(".sql") && $0 != "schema.sql" && !$0.hasPrefix(".")
    }
    let files = names.sorted().map { folder.appending(path: $0) }
    let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedMigrations.swift")
    return [
      .buildCommand(
        displayName: "Embedding \(files.count) migrations in \(target.name)",
        executable: try context.tool(named: "EmbedMigrationsTool").url,
        arguments: [output.path] + files.map(\.path), inputFiles: files, outputFiles: [output])
    ]
  }
}

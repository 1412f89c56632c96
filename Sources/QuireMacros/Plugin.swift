import SwiftSyntax
import SwiftSyntaxMacros

var macroTypes: [any Macro.Type] {
  [
    ModelMacro.self, AttributeMacro.self, RelationshipMacro.self, TransientMacro.self, IndexMacro.self,
    UniqueMacro.self, FullTextMacro.self, StoredMacro.self, ObservedMacro.self, InitializerMacro.self,
    ProjectionMacro.self, GroupProjectionMacro.self, FieldMacro.self, ModelActorMacro.self, PredicateMacro.self,
    RowExpressionMacro.self, SQLExpressionMacro.self,
  ]
}

#if TOOLCHAIN_SYNTAX
  @_spi(PluginMessage) import SwiftCompilerPluginMessageHandling
  import SwiftSyntaxMacroExpansion

  /// Answers the compiler's messages with our macros: what `CompilerPlugin` does in the swift-syntax package, which the
  /// toolchain's copy leaves out.
  @main struct Plugin {
    struct Provider: PluginProvider {
      func resolveMacro(moduleName: String, typeName: String) throws -> any Macro.Type {
        for type in macroTypes where "\(type)" == typeName { return type }
        throw UnknownMacro(name: "\(moduleName).\(typeName)")
      }
    }
    struct UnknownMacro: Error { let name: String }

    static func main() throws {
      let connection = try StandardIOMessageConnection()
      let listener = CompilerPluginMessageListener(
        connection: connection, messageHandler: PluginProviderMessageHandler(provider: Provider()))
      try listener.main()
    }
  }
#else
  import SwiftCompilerPlugin

  @main struct Plugin: CompilerPlugin {
    let providingMacros = macroTypes
  }
#endif

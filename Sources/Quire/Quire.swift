// What `import Quire` brings: the whole library, and Foundation and Observation, as SwiftData does.
@_exported public import Foundation
@_exported public import Observation
@_exported public import QuireLive
@_exported public import QuireModel
@_exported public import QuireRow
@_exported public import QuireSQLite
@_exported public import QuireShared

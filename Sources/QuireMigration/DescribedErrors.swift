public import QuireRow

// Their descriptions are what `localizedDescription` gives.

extension MigrationError: _Quire.DescribedError {}
extension ToolProblem: _Quire.DescribedError {}

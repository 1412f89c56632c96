public import QuireRow

// Their descriptions are what `localizedDescription` gives.

extension ChangeLogError: _Quire.DescribedError {}
extension DatabaseError: _Quire.DescribedError {}
extension SQLiteError: _Quire.DescribedError {}
extension StatementError: _Quire.DescribedError {}

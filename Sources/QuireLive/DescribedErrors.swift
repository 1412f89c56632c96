public import QuireRow

// Their descriptions are what `localizedDescription` gives.

extension CommitsMissed: _Quire.DescribedError {}
extension LoadError: _Quire.DescribedError {}
extension ModelBindingError: _Quire.DescribedError {}
extension ModelEnvironmentError: _Quire.DescribedError {}
extension RecordError: _Quire.DescribedError {}

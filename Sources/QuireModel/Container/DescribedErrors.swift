public import QuireRow

// Their descriptions are what `localizedDescription` gives.

extension ModelError: _Quire.DescribedError {}
extension ObservationLoop: _Quire.DescribedError {}
extension SchemaError: _Quire.DescribedError {}
extension UntranslatablePredicate: _Quire.DescribedError {}

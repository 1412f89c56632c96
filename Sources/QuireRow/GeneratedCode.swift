/// What the code needs that macros write, and a protocol's requirements: no part of the API.
///
/// Modules add to it in extensions. Inside the package the types go by their own names.
public enum _Quire {}

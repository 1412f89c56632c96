/// The namespace of what code written by macros needs, and of protocol requirements. Not part of the API.
///
/// Modules extend it. Inside the package the types have short names.
public enum _Quire {}

// What `import QuireMigration` brings along: the statements, records and values of a step, so that a file needs no other
// import where members are visible only with one of their own module (`MemberImportVisibility`).
@_exported public import QuireRow
@_exported public import QuireSQLite

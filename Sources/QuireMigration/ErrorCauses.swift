public import QuireRow

extension ToolProblem: QuireError {}

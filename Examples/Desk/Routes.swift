import Quire

/// Which request asks for what, and which status an error is.
struct Routes: Sendable {
  let desk: Desk
  let metrics: Metrics

  func answer(_ request: Request) async -> Response {
    do {
      return try await answerThrowing(request)
    } catch let refusal as Refusal {
      switch refusal {
      case .notFound(let text): return .error(404, text)
      case .badRequest(let text): return .error(400, text)
      case .conflict(let text): return .error(409, text)
      }
    } catch ModelError.closed {
      return .error(503, "the desk is closing; try again")
    } catch let error as any QuireError where error.cause == .transient {
      return .error(503, "the desk is busy; try again")
    } catch let error as any QuireError where error.cause == .storage {
      metrics.note(error)
      return .error(503, "the desk is not available; try again")
    } catch {
      metrics.note(error)
      return .error(500, "this did not work")  // what it was stands in the log, not in the answer
    }
  }

  private func answerThrowing(_ request: Request) async throws -> Response {
    switch (request.method, request.path.first, request.path.count) {
    case ("GET", "books", 1): return try .json(try await desk.books(try query(request)))
    case ("GET", "books", 2): return try .json(try await desk.book(try key(request, 1)))
    case ("POST", "loans", 1):
      guard let order = try? JSONDecoder().decode(Order.self, from: request.body) else {
        throw Refusal.badRequest("give {\"book\": KEY, \"member\": KEY}")
      }
      return try .json(try await desk.lend(order.book, to: order.member), status: 201)
    case ("POST", "loans", 3) where request.path[2] == "return":
      return try .json(try await desk.takeBack(try key(request, 1)))
    case ("GET", "statistics", 1): return try .json(try await desk.statistics())
    case ("GET", "feed", 1): return Response(status: 200, type: "text/event-stream", body: Data(), isFeed: true)
    case ("GET", "health", 1):
      _ = try await desk.statistics()  // the file can be read
      return try .json(["status": "ok"])
    case ("GET", "metrics", 1): return Response(status: 200, type: "text/plain", body: Data(metrics.text.utf8))
    case (_, "books", _), (_, "loans", _), (_, "statistics", _), (_, "feed", _), (_, "health", _), (_, "metrics", _):
      return .error(405, "there is no \(request.method) here")
    default: throw Refusal.notFound("there is nothing here")
    }
  }

  private struct Order: Decodable {
    var book: Int64
    var member: Int64
  }

  private func key(_ request: Request, _ place: Int) throws -> Int64 {
    guard let key = Int64(request.path[place]), key > 0 else {
      throw Refusal.badRequest("'\(request.path[place])' is no key")
    }
    return key
  }

  private func query(_ request: Request) throws -> Desk.Query {
    func number(_ name: String, _ usual: Int) throws -> Int {
      guard let text = request.query[name] else { return usual }
      guard let number = Int(text), 1...1_000_000 ~= number else { throw Refusal.badRequest("'\(text)' is no \(name)") }
      return number
    }
    return Desk.Query(
      text: request.query["text"] ?? "", isOnShelf: request.query["onShelf"] == "true",
      sort: request.query["sort"] ?? "title", page: try number("page", 1), size: try number("size", 20))
  }
}

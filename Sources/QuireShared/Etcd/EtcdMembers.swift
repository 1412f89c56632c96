/// One member of an etcd cluster, as it answers.
package struct EtcdMember: Hashable, Sendable {
  /// `host:port`.
  package let address: String
  /// Its version; nil if it does not answer.
  package let version: String?
  package let isLeader: Bool
}

extension EtcdLog {
  /// The members at the addresses of this log, in their order. One that does not answer is among them, without a version.
  package func members(by deadline: ContinuousClock.Instant) -> [EtcdMember] {
    endpoints.map { address in
      let answer = try? EtcdClient([address], patience: .seconds(1)).post(
        "/v3/maintenance/status", [:], needsLeader: false, by: deadline)
      let header = answer?["header"]
      let (id, leader) = (header?["member_id"]?.string, answer?["leader"]?.string)
      return EtcdMember(
        address: address, version: answer?["version"]?.string, isLeader: id != nil && id == leader)
    }
  }
}

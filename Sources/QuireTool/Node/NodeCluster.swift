import QuireShared

/// `node cluster`: the settings of an etcd cluster for Debian's etcd-server. Prints them, and installs nothing.
struct NodeCluster {
  let target: NodeTarget

  func run() throws -> ExitStatus {
    let hosts = target.invocation.arguments("HOST")
    guard hosts.count >= 3, hosts.count % 2 == 1, hosts.count <= 7 else {
      throw target.invocation.usageError(
        "a cluster has 3, 5 or 7 machines: of 3 one can fail, of 5 two. Give their names or addresses")
    }
    if let bad = hosts.first(where: { !SharedStore.isUsable(name: $0) }) {
      throw target.invocation.usageError("‘\(bad)’ is not a host’s name or IPv4 address")
    }
    if Set(hosts).count < hosts.count { throw target.invocation.usageError("a machine was given twice") }
    let cluster = hosts.map { "\($0)=https://\($0):2380" }.joined(separator: ",")
    let machines = hosts.map { (host: $0, settings: settings(of: $0, cluster)) }
    if target.isJSON {
      let documents = machines.map { machine in
        JSON.object([
          ("host", .string(machine.host)), ("settings", .object(machine.settings.map { ($0, .string($1)) })),
        ])
      }
      target.terminal.print(JSON.object([("v", 1), ("machines", .array(documents))]).text)
      return .done
    }
    for machine in machines {
      target.terminal.print("# /etc/default/etcd on \(machine.host)")
      for (name, value) in machine.settings { target.terminal.print("\(name)=\(value)") }
      target.terminal.print()
    }
    target.terminal.note(
      "On each machine: apt-get install etcd-server, write its part to /etc/default/etcd, give it a certificate of your own "
        + "authority in /etc/etcd, then systemctl restart etcd. Programs talk to the member on their own machine.")
    return .done
  }

  private func settings(of host: String, _ cluster: String) -> [(String, String)] {
    [
      ("ETCD_NAME", host),
      ("ETCD_DATA_DIR", "/var/lib/etcd/default"),
      ("ETCD_LISTEN_CLIENT_URLS", "http://127.0.0.1:2379"),
      ("ETCD_ADVERTISE_CLIENT_URLS", "http://127.0.0.1:2379"),
      ("ETCD_LISTEN_PEER_URLS", "https://0.0.0.0:2380"),
      ("ETCD_INITIAL_ADVERTISE_PEER_URLS", "https://\(host):2380"),
      ("ETCD_INITIAL_CLUSTER", cluster),
      ("ETCD_INITIAL_CLUSTER_STATE", "new"),
      ("ETCD_INITIAL_CLUSTER_TOKEN", "quire"),
      ("ETCD_PEER_CERT_FILE", "/etc/etcd/\(host).crt"),
      ("ETCD_PEER_KEY_FILE", "/etc/etcd/\(host).key"),
      ("ETCD_PEER_TRUSTED_CA_FILE", "/etc/etcd/ca.crt"),
      ("ETCD_PEER_CLIENT_CERT_AUTH", "true"),
      ("ETCD_AUTO_COMPACTION_MODE", "revision"),
      ("ETCD_AUTO_COMPACTION_RETENTION", "1000"),
      ("ETCD_QUOTA_BACKEND_BYTES", "4294967296"),
      ("ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK", "true"),
    ]
  }
}

import CLibssl
import Foundation
import TestSupport

/// Certificates that openssl makes for one run of the tests: an authority, the certificates that it signed, and another
/// authority.
struct TestCertificates: Sendable {
  static let canBeMade = Surroundings.program("openssl") != nil
  /// Made once for all tests.
  static let shared = Task { try await TestCertificates() }

  private let folder: TemporaryFolder

  /// The authority that signed the servers' certificates.
  var authority: String { folder.file("ca.pem") }
  /// An authority that signed no certificate.
  var otherAuthority: String { folder.file("other.pem") }

  private init() async throws {
    folder = try TemporaryFolder()
    for name in ["ca", "other"] { try await make(name, subject: "/CN=\(name)", []) }
    let signed = ["-CA", folder.file("ca.pem"), "-CAkey", folder.file("ca.key")]
    for (name, alternative) in [
      ("localhost", "DNS:localhost"), ("elsewhere", "DNS:elsewhere.example,IP:192.0.2.1"), ("address", "IP:127.0.0.1"),
    ] {
      try await make(name, subject: "/CN=lab", ["-addext", "subjectAltName=" + alternative] + signed)
    }
  }

  private func make(_ name: String, subject: String, _ options: [String]) async throws {
    guard let openssl = Surroundings.program("openssl") else { throw POSIXError(.ENOENT) }
    let making = try RunningProgram(
      openssl,
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
        subject, "-keyout", folder.file(name + ".key"), "-out", folder.file(name + ".pem"),
      ] + options)
    guard try await making.exitStatus() == 0 else { throw POSIXError(.EIO) }
  }

  /// The options of the measurement server tool that shows the certificate `name`.
  func options(_ name: String) -> [String] {
    ["--certificate", folder.file(name + ".pem"), "--key", folder.file(name + ".key")]
  }

  /// A server that shows the certificate `name`; the caller releases it.
  /// - Parameter newest: The newest version of TLS that it speaks.
  func server(_ name: String, newest: Int32 = TLS1_3_VERSION) throws -> OpaquePointer {
    guard let context = SSL_CTX_new(TLS_server_method()),
      SSL_CTX_use_certificate_chain_file(context, folder.file(name + ".pem")) == 1,
      SSL_CTX_use_PrivateKey_file(context, folder.file(name + ".key"), X509_FILETYPE_PEM) == 1
    else { throw POSIXError(.EIO) }
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(newest), nil)
    return context
  }
}

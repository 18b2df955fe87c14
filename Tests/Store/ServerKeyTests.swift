import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// The key of a control server: its URL without a password.
struct ServerKeyTests {
  @Test(
    "when a URL has user information, then the key is the URL without it",
    arguments: [
      ("https://user:word@host", "https://host"), ("https://user@host:8443/a?b#c", "https://host:8443/a?b#c"),
      // The last @ of the authority ends the user information.
      ("https://user:w@rd@host/", "https://host/"), ("https://@host", "https://host"),
      ("https://user:word@[::1]:8443/a", "https://[::1]:8443/a"),
      ("https://user:word@host?at=a@b", "https://host?at=a@b"), ("https://user:word@host#a@b", "https://host#a@b"),
      ("http://user:word@host", "http://host"),
    ])
  func withUser(_ url: String, _ key: String) {
    #expect(ServerKey.of(url) == key)
    #expect(ServerKey.of(key) == key, "a key is its own key")
  }

  @Test(
    "when an @ is not in the authority, then the URL is the key",
    arguments: [
      "https://host", "https://host/a@b", "https://host?a@b", "https://host#a@b", "https://host/a?b@c#d@e", "user@host",
      "", "://",
    ])
  func withoutUser(_ url: String) { #expect(ServerKey.of(url) == url) }

  /// A store of version 6, in which `sql` inserts rows under URLs with passwords.
  private func migrated(_ sql: String, damage: String = "") throws -> DatabaseQueue {
    let old = try DatabaseQueue()
    try Schema.migrator.migrate(old, upTo: "6 clients of sessions")
    try old.write { db in
      try ChecksumFunction.register(db)
      try db.execute(sql: sql)
      if !damage.isEmpty { try db.execute(sql: "DROP TRIGGER registration_updated; \(damage)") }
      try ServerKey.removeUserInformation(db)
    }
    return old
  }

  private func clients(_ database: DatabaseQueue) throws -> [String: String] {
    try database.read { db in
      let rows = try Row.fetchAll(db, sql: "SELECT control_server, client_uuid FROM registration")
      return Dictionary(uniqueKeysWithValues: rows.map { ($0["control_server"], $0["client_uuid"]) })
    }
  }

  @Test("when two old keys become one, then the first row stays, without its password")
  func merged() throws {
    let database = try migrated(
      """
      INSERT INTO registration (control_server, client_uuid)
        VALUES ('https://a:1@host', 'A'), ('https://b:2@host', 'B'), ('https://c:3@other', 'C')
      """)
    #expect(try clients(database) == ["https://host": "A", "https://other": "C"])
  }

  @Test("when the row of an old key is damaged, then it is deleted: its values must not get a valid checksum")
  func damaged() throws {
    let database = try migrated(
      "INSERT INTO registration (control_server, client_uuid) VALUES ('https://a:1@host', 'A'), ('https://b:2@other', 'B')",
      damage: "UPDATE registration SET client_uuid = 'X' WHERE client_uuid = 'A'")
    #expect(try clients(database) == ["https://other": "B"])
  }

  @Test("when a key has an @ in its path only, then its row stays unchanged")
  func pathOnly() throws {
    let database = try migrated(
      "INSERT INTO registration (control_server, client_uuid, history_cursor) VALUES ('https://host/a@b', 'A', 7)")
    #expect(try clients(database) == ["https://host/a@b": "A"])
  }
}

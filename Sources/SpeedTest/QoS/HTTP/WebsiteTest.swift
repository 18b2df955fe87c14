import Foundation
import OrderedJSON

/// Fetches a page, and nothing that the page refers to. The reference apps render it in a browser, so the figures differ:
/// `website_result_method` says so.
struct WebsiteTest: QoSTest {
  struct Finding: Sendable {
    let page: FetchedPage
    /// ns.
    let duration: Int64
  }

  static let method = "plain fetch"

  private let fetch: HTTPFetch
  let objective: [JSON.Member]

  init(_ parameters: QoSParameters) {
    let timeout = parameters.time("timeout", standard: 10_000_000_000)
    fetch = HTTPFetch(url: parameters.text("url") ?? "", connecting: timeout, whole: timeout)
    objective = JSON.members([
      "website_objective_url": parameters.json("url"), "website_objective_timeout": parameters.json("timeout"),
    ])
  }

  var limit: Int64 { fetch.whole }

  func measure(_ context: QoSContext) throws(SpeedTestError) -> Finding {
    let start = context.now
    let page = try fetch.run(
      context.waiting, family: context.family, interface: context.interface, traffic: context.traffic)
    return Finding(page: page, duration: context.now - start)
  }

  func members(_ finding: Finding) -> [JSON.Member] {
    JSON.members([
      "website_result_info": .string(status(finding).rawValue),
      "website_result_status": .string("\(finding.page.status)"),
      "website_result_duration": .integer(finding.duration),
      "website_result_rx_bytes": .integer(finding.page.length), "website_result_method": .string(Self.method),
    ])
  }

  func members(without reason: QoSStatus) -> [JSON.Member] {
    JSON.members(["website_result_info": .string(reason.rawValue), "website_result_method": .string(Self.method)])
  }

  func status(_ finding: Finding) -> QoSStatus { .ok }
}

/// Fetches a page, so that the control server can compare its status, header, length and hash, and find a proxy that changes
/// pages.
struct HTTPProxyTest: QoSTest {
  struct Finding: Sendable {
    let page: FetchedPage
    /// ns.
    let duration: Int64
  }

  private let fetch: HTTPFetch
  let objective: [JSON.Member]

  init(_ parameters: QoSParameters) {
    fetch = HTTPFetch(
      url: parameters.text("url") ?? "", range: parameters.text("range"),
      connecting: parameters.time("conn_timeout", standard: 5_000_000_000),
      whole: parameters.time("download_timeout", standard: 10_000_000_000))
    objective = JSON.members([
      "http_objective_url": parameters.json("url"), "http_objective_range": parameters.json("range"),
    ])
  }

  var limit: Int64 { fetch.connecting + fetch.whole }

  func measure(_ context: QoSContext) throws(SpeedTestError) -> Finding {
    let start = context.now
    let page = try fetch.run(
      context.waiting, family: context.family, interface: context.interface, traffic: context.traffic)
    return Finding(page: page, duration: context.now - start)
  }

  func members(_ finding: Finding) -> [JSON.Member] {
    JSON.members([
      "http_result_status": .integer(Int64(finding.page.status)), "http_result_header": .string(finding.page.header),
      "http_result_length": .integer(finding.page.length), "http_result_hash": .string(finding.page.hash),
      "http_result_duration": .integer(finding.duration),
    ])
  }

  /// The wire has no status for this test: the word stands in place of the hash.
  func members(without reason: QoSStatus) -> [JSON.Member] {
    JSON.members(["http_result_hash": .string(reason.rawValue)])
  }

  func status(_ finding: Finding) -> QoSStatus { .ok }
}

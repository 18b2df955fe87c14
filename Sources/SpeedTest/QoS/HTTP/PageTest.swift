import Foundation
import OrderedJSON

/// Fetches a page, and nothing that the page refers to.
///
/// As an HTTP proxy test, the control server compares its status, header, length and hash, and finds a proxy that changes pages. As a website
/// test, its time counts; the reference apps render the page in a browser, so the figures differ: `website_result_method` says so.
struct PageTest: QoSTest {
  struct Finding: Sendable {
    let page: FetchedPage
    /// ns.
    let duration: Int64
  }

  static let method = "plain fetch"

  private let fetch: HTTPFetch
  private let isWebsite: Bool
  let limit: Int64
  let objective: [JSON.Member]

  init(website parameters: QoSParameters) {
    isWebsite = true
    limit = parameters.time("timeout", standard: 10_000_000_000)
    fetch = HTTPFetch(url: parameters.text("url") ?? "", connecting: limit, whole: limit)
    objective = JSON.members([
      "website_objective_url": parameters.json("url"), "website_objective_timeout": parameters.json("timeout"),
    ])
  }

  init(proxy parameters: QoSParameters) {
    isWebsite = false
    fetch = HTTPFetch(
      url: parameters.text("url") ?? "", range: parameters.text("range"),
      connecting: parameters.time("conn_timeout", standard: 5_000_000_000),
      whole: parameters.time("download_timeout", standard: 10_000_000_000))
    limit = fetch.connecting + fetch.whole
    objective = JSON.members([
      "http_objective_url": parameters.json("url"), "http_objective_range": parameters.json("range"),
    ])
  }

  func measure(_ context: QoSContext) throws(SpeedTestError) -> Finding {
    let start = context.now
    let page = try fetch.run(
      context.waiting, family: context.family, interface: context.interface, traffic: context.traffic)
    return Finding(page: page, duration: context.now - start)
  }

  func members(_ finding: Finding) -> [JSON.Member] {
    let page = finding.page
    guard isWebsite else {
      return JSON.members([
        "http_result_status": .integer(Int64(page.status)), "http_result_header": .string(page.header),
        "http_result_length": .integer(page.length), "http_result_hash": .string(page.hash),
        "http_result_duration": .integer(finding.duration),
      ])
    }
    return JSON.members([
      "website_result_info": .string(status(finding).rawValue), "website_result_status": .string("\(page.status)"),
      "website_result_duration": .integer(finding.duration), "website_result_rx_bytes": .integer(page.length),
      "website_result_method": .string(Self.method),
    ])
  }

  /// The wire has no status for a proxy test: the word stands in place of the hash.
  func members(without reason: QoSStatus) -> [JSON.Member] {
    isWebsite
      ? JSON.members(["website_result_info": .string(reason.rawValue), "website_result_method": .string(Self.method)])
      : JSON.members(["http_result_hash": .string(reason.rawValue)])
  }
}

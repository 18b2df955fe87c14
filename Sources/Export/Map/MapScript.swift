/// The page's own script, joined from the files in `Page`, which the build embeds. A part comes after the parts that it uses;
/// `map.js` starts the page, so it is the last. The live page has `live.js` behind it.
enum MapScript {
  static let text: [UInt8] =
    PackageResources.symbols_js + PackageResources.projection_js + PackageResources.fence_table_js
    + PackageResources.fence_item_js
    + PackageResources.speed_tests_js + PackageResources.time_axis_js + PackageResources.views_js
    + PackageResources.fence_layer_js
    + PackageResources.timeline_js + PackageResources.sessions_js + PackageResources.speed_test_table_js
    + PackageResources.card_js + PackageResources.map_js
}

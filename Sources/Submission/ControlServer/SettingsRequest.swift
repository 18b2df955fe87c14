import OrderedJSON

/// The request that registers the device or confirms its registration (docs/protocol.md, 3.3).
struct SettingsRequest {
  /// `nil` for the first registration.
  let clientUUID: String?
  let device: Device

  var json: JSON {
    .object(
      JSON.members([
        "uuid": .string(clientUUID ?? ""),
        "terms_and_conditions_accepted": true,
        "terms_and_conditions_accepted_version": 6,
      ]) + device.members)
  }
}

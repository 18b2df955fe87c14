// swift-tools-version: 6.2

import Foundation
import PackageDescription

// The modules, layer by layer (ARCHITECTURE.md). A target depends on lower layers only;
// tools/check holds the sources to what is declared here.

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]
let strictC: [CSetting] = [.treatAllWarnings(as: .error), .unsafeFlags(["-Wall", "-Wextra"])]

// ModemManager is asked through libsystemd's sd-bus, where its headers are installed.
let hasSystemd =
  FileManager.default.fileExists(atPath: "/usr/include/systemd/sd-bus.h")
  && Context.environment["WITHOUT_SYSTEMD"] == nil
let systemd: [Target.Dependency] = hasSystemd ? ["CSystemd"] : []

let package = Package(
  name: "coverage-probe",
  products: [
    .executable(name: "coverage-probe", targets: ["coverage-probe"]),
    .executable(name: "control-server", targets: ["control-server"]),
    .executable(name: "measurement-server", targets: ["measurement-server"]),
    .executable(name: "reflector", targets: ["reflector"]),
    .executable(name: "gps-player", targets: ["gps-player"]),
  ],
  // Exact versions, so that a Debian package can be built again. The packages' own dependencies are not fixed by this.
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    // SQLite with checked migrations, and transactions that survive a power cut.
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    // The service's socket for commands, and the control server tool. Its default traits bring nothing that is used here.
    .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    // Reads the file: unknown keys are named with the nearest known one, and lists of groups exist.
    .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    // The programs of `radio.source` and `loop.hook`; no descriptor leaks into them.
    .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2", traits: []),
    .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
    // Percentiles of round-trip times in constant memory.
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0"),
  ],
  targets: [
    // Layer 0
    .target(
      name: "CPinger", cSettings: strictC + [.define("CPINGER_CAPTURE")],
      linkerSettings: [.linkedLibrary("pcap")]),
    .systemLibrary(name: "CZlib"),
    .systemLibrary(name: "CSystemd"),
    // Reads capture files.
    .systemLibrary(name: "CPcap"),
    // TLS on the plain sockets of speed tests, without an event loop between the socket and its thread.
    .systemLibrary(name: "CLibssl"),
    // HTTP with binding to an interface, an IP version, a CA of the user's choice and one deadline for all of it.
    .systemLibrary(name: "CCurl"),
    .target(name: "Coverage", swiftSettings: strict),
    .target(name: "OrderedJSON", swiftSettings: strict),

    // Layer 1
    .target(
      name: "Networking",
      dependencies: ["CPinger", "CCurl", "Coverage", .product(name: "Logging", package: "swift-log")],
      swiftSettings: strict),
    .target(
      name: "SystemServices",
      dependencies: systemd + [
        "Coverage",
        .product(name: "Subprocess", package: "swift-subprocess"),
        .product(name: "SystemPackage", package: "swift-system"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),
    .target(name: "Pinging", dependencies: ["CPinger", "CLibssl", "Coverage"], swiftSettings: strict),
    .target(
      name: "Positioning",
      dependencies: [
        "Coverage",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),
    .target(
      name: "Store",
      dependencies: [
        "Coverage", "OrderedJSON", "CZlib",
        // The SHA-256 of drive logs.
        "CLibssl",
        .product(name: "GRDB", package: "GRDB.swift"),
        // SQLite's C interface, for the checksum of each row.
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),

    // Layer 2
    .target(
      name: "Settings",
      dependencies: [
        "Coverage", "OrderedJSON", "Networking", "SystemServices", "Pinging", .product(name: "Yams", package: "Yams"),
      ],
      swiftSettings: strict),
    .target(
      name: "Submission",
      dependencies: [
        "Coverage", "OrderedJSON", "CZlib", "Networking", "Store", .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),
    .target(
      name: "Export",
      dependencies: [
        "Coverage", "OrderedJSON", "CZlib", "Store", .product(name: "GRDB", package: "GRDB.swift"),
        // SQLite's C interface, for the rows of a GeoPackage, and limits on a base map's queries.
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      // Within the program: a single static binary has no folder of resources beside it.
      resources: [
        "map.html", "map.css", "symbols.js", "projection.js", "fence_table.js", "fence_item.js", "speed_tests.js",
        "time_axis.js",
        "views.js", "vector_tile.js", "basemap_style.js", "basemap.js", "track.js", "fence_layer.js", "timeline.js",
        "sessions.js", "speed_test_table.js", "card.js", "map.js",
        "live.js", "live_tiles.js", "live.css",
      ].map { .embedInCode("Map/Page/\($0)") },
      // Else GRDB's text to SQL is preferred to Swift's own joining of strings.
      swiftSettings: strict + [.enableUpcomingFeature("MemberImportVisibility")]),

    // Layer 3
    .target(
      name: "SpeedTest",
      dependencies: [
        "CLibssl", "Coverage", "OrderedJSON", "Networking", "Pinging", "Store", "Submission",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),
    .target(
      name: "Driving",
      dependencies: [
        "Coverage", "OrderedJSON", "CPinger", "CPcap", "Pinging", "Positioning", "Networking", "SystemServices",
        "Store", "Submission", "Settings",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),

    // Layer 4
    .target(
      name: "Service",
      dependencies: [
        "Coverage", "OrderedJSON", "CPinger", "Pinging", "Positioning", "Networking", "Store", "Submission", "Settings",
        "Export", "Driving", "SpeedTest", "SystemServices",
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),

    // Layer 5
    .executableTarget(
      name: "coverage-probe",
      dependencies: [
        "Coverage", "OrderedJSON", "CPinger", "Pinging", "Positioning", "Networking", "Store", "Submission", "Settings",
        "Export", "Driving", "SpeedTest", "SystemServices", "Service",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict,
      // Nothing loads a program: names for a loader are 5 MB of the package.
      linkerSettings: [.unsafeFlags(["-Xlinker", "--no-export-dynamic"], .when(configuration: .release))]),

    // The outside world, for tests, demos and users
    .executableTarget(
      // It speaks the one-way format by the pinger's own code.
      name: "reflector", dependencies: ["CPinger"], path: "tools/reflector",
      cSettings: strictC + [.headerSearchPath("../../Sources/CPinger/src")],
      linkerSettings: [.linkedLibrary("crypto")]),
    .executableTarget(
      name: "control-server",
      dependencies: [
        // TLS, and the HMAC of tokens: swift-nio-ssl and swift-crypto would compile BoringSSL for each.
        "CZlib", "CLibssl",
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      path: "tools/control-server",
      swiftSettings: strict),
    .executableTarget(
      name: "measurement-server",
      dependencies: ["CLibssl", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      path: "tools/measurement-server",
      swiftSettings: strict),
    .executableTarget(
      name: "simulate-fleet",
      dependencies: [
        "Submission", "Coverage", "Store", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "tools/simulate-fleet",
      swiftSettings: strict),
    .executableTarget(
      name: "gps-player",
      dependencies: [
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      path: "tools/gps-player",
      exclude: ["demo-track.csv"],
      swiftSettings: strict),

    // Drives for tools/bench-engine.
    .executableTarget(
      name: "bench-engine-drive",
      dependencies: [
        "Coverage", "Store", "OrderedJSON", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "tools/bench-engine-drive",
      swiftSettings: strict),

    // Reports on drives whose true figures are known.
    .executableTarget(
      name: "simulate-reports",
      dependencies: [
        "Coverage", "Export", "Store", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "tools/simulate-reports",
      swiftSettings: strict),

    // Durable fences for tools/bench-store.
    .executableTarget(
      name: "bench-store-fence",
      dependencies: [
        "Coverage", "Store", "OrderedJSON",
        // Bare SQLite, to compare with.
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "tools/bench-store-fence",
      swiftSettings: strict),

    // A speed test's main phases with SwiftNIO, for tools/bench-speedtest.
    .executableTarget(
      name: "bench-event-loop",
      dependencies: [
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "tools/bench-event-loop",
      swiftSettings: strict),

    // Tests, a folder a target
    .target(
      name: "TestSupport",
      dependencies: [
        "Coverage", "Settings", "SystemServices", .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/Support", swiftSettings: strict),
    .target(
      // Notes what SQLite does to a disk, for power cuts.
      name: "CDiskTrace", path: "Tests/DiskTrace", cSettings: strictC, linkerSettings: [.linkedLibrary("sqlite3")]),
    .testTarget(
      name: "CoverageTests", dependencies: ["Coverage", "Store", "TestSupport"], path: "Tests/Coverage"),
    .testTarget(name: "OrderedJSONTests", dependencies: ["OrderedJSON"], path: "Tests/OrderedJSON"),
    .testTarget(
      name: "NetworkingTests", dependencies: ["Networking", "Coverage", "TestSupport"], path: "Tests/Networking",
      swiftSettings: strict),
    .testTarget(
      name: "SystemServicesTests",
      dependencies: ["SystemServices", "Coverage", "TestSupport", .product(name: "Logging", package: "swift-log")],
      path: "Tests/SystemServices", swiftSettings: strict),
    .testTarget(
      name: "PingingTests", dependencies: ["Pinging", "CPinger", "Coverage", "TestSupport", "reflector"],
      path: "Tests/Pinging",
      swiftSettings: strict),
    .testTarget(
      name: "PositioningTests",
      dependencies: [
        "Positioning", "Coverage", "TestSupport", "gps-player",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/Positioning", swiftSettings: strict),
    .testTarget(
      name: "StoreTests",
      dependencies: [
        "Store", "Submission", "Coverage", "OrderedJSON", "TestSupport", "CDiskTrace", "control-server",
        .product(name: "GRDB", package: "GRDB.swift"), .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/Store", swiftSettings: strict),
    .testTarget(
      name: "SettingsTests", dependencies: ["Settings", "Coverage", "Networking", "SystemServices", "TestSupport"],
      path: "Tests/Settings",
      swiftSettings: strict),
    .testTarget(
      name: "SubmissionTests",
      dependencies: [
        "Submission", "Store", "Networking", "Coverage", "TestSupport", "control-server", "simulate-fleet",
        "coverage-probe",
        .product(name: "GRDB", package: "GRDB.swift"), .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/Submission", swiftSettings: strict),
    .testTarget(
      name: "ExportTests",
      dependencies: [
        "Export", "Store", "Coverage", "OrderedJSON", "TestSupport",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      path: "Tests/Export", swiftSettings: strict),
    .testTarget(
      name: "SpeedTestTests",
      dependencies: [
        "SpeedTest", "CLibssl", "Coverage", "OrderedJSON", "Pinging", "Networking", "Store", "Submission",
        "TestSupport",
        "control-server", "measurement-server",
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/SpeedTest", swiftSettings: strict),
    .testTarget(
      name: "DrivingTests",
      dependencies: [
        "Driving", "CPinger", "Settings", "Store", "Submission", "Pinging", "Positioning", "Networking", "Coverage",
        "OrderedJSON", "SystemServices", "TestSupport",
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/Driving", swiftSettings: strict),
    .testTarget(
      name: "ServiceTests",
      dependencies: [
        "Service", "Driving", "Settings", "Store", "Pinging", "Positioning", "Coverage", "Submission", "Export",
        "Networking", "OrderedJSON", "SystemServices", "SpeedTest", "TestSupport", "control-server",
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/Service", swiftSettings: strict),
    .testTarget(
      name: "CommandLineTests",
      dependencies: [
        "coverage-probe", "Service", "Driving", "Settings", "Store", "Pinging", "Positioning", "Coverage",
        "Submission", "Export", "Networking", "OrderedJSON", "SystemServices", "SpeedTest", "TestSupport",
        "control-server",
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/CommandLine", swiftSettings: strict),
    .testTarget(
      name: "ControlServerToolTests", dependencies: ["control-server", "TestSupport"],
      path: "Tests/ControlServerTool", swiftSettings: strict),
    .testTarget(
      name: "GPSPlayerTests", dependencies: ["gps-player", .product(name: "NIOEmbedded", package: "swift-nio")],
      path: "Tests/GPSPlayer", swiftSettings: strict),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "Coverage", "Pinging", "Store", "TestSupport", "coverage-probe", "control-server", "gps-player",
        "reflector",
        "measurement-server",
      ],
      path: "Tests/EndToEnd", exclude: ["settable-clock.c"],
      // Else GRDB's text to SQL, which comes with Store, is preferred to Swift's own joining of strings.
      swiftSettings: strict + [.enableUpcomingFeature("MemberImportVisibility")]),
  ]
)

// tools/coverage-of builds one module's tests, and nothing that they do not need.
if let module = Context.environment["COVERAGE_OF"] {
  var needed: Set = ["\(module)Tests"]
  var count = 0
  while needed.count > count {
    count = needed.count
    for target in package.targets where needed.contains(target.name) {
      for case .byNameItem(let name, _) in target.dependencies { needed.insert(name) }
    }
  }
  package.targets.removeAll { !needed.contains($0.name) }
  package.products = []
}

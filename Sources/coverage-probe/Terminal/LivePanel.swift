import Service
import Synchronization

/// The panel in the live area.
final class LivePanel: Sendable {
  private let panel = Mutex(Panel())

  /// Shows the state of another second.
  func show(_ state: PanelState) {
    let now = panel.withLock { panel in
      panel.update(state)
      return panel
    }
    LiveArea.show { columns, rows in now.lines(columns: columns, rows: rows, isColoured: LiveArea.isColoured) }
  }
}

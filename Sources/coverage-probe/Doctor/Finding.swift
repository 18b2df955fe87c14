import OrderedJSON

struct Finding: Hashable, Sendable {
  /// The examined part, in the order of the report. The raw values appear in `doctor --json`.
  ///
  /// `link` is about the interfaces, files and programs that the settings name; `pings` is about pings on a granted test.
  enum Subject: String, Hashable, Sendable, CaseIterable {
    case configuration, host, state, link, receiver, server, pings
  }

  /// Whether a drive can be recorded. The raw values appear in `doctor --json`; a single fault makes the command fail.
  enum Grade: String, Hashable, Sendable {
    /// As it should be.
    case good
    /// Worth knowing; nothing needs to be done.
    case note
    /// A drive can be recorded, but some of its figures will be missing or worse.
    case warning
    /// No drive can be recorded now, or it would have no figures.
    case fault
  }

  let subject: Subject
  let grade: Grade
  /// The observation, in one line.
  let text: String
  /// The remedy, in one line; `nil` when there is none or none is needed.
  let advice: String?

  init(_ grade: Grade, _ subject: Subject, _ text: String, advice: String? = nil) {
    (self.grade, self.subject, self.text, self.advice) = (grade, subject, text, advice)
  }

  /// The same as a warning instead of a fault: a drive can be recorded by another link.
  var lowered: Finding { Finding(grade == .fault ? .warning : grade, subject, text, advice: advice) }

  var json: JSON {
    .object([
      "subject": .string(subject.rawValue), "grade": .string(grade.rawValue), "text": .string(text),
      "advice": advice.map(JSON.string),
    ])
  }
}

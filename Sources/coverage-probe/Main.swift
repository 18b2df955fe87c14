/// The entry point. Makes the inherited state safe before the argument parser runs.
@main
enum Main {
  static func main() async {
    ProcessSetup.prepare()
    await CoverageProbe.main()
  }
}

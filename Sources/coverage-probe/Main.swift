/// The entry point. Makes the inherited state safe before the argument parser runs.
@main
enum Main {
  static func main() async {
    Surroundings.prepare()
    await CoverageProbe.main()
  }
}

/// The code of a network (PLMN): three digits for the country (MCC), and two or three for the network (MNC), by 3GPP TS 23.003, 2.2.
public struct OperatorCode: Hashable, Sendable {
  /// The mobile country code.
  public let country: String
  /// The mobile network code.
  public let network: String

  /// - Parameters:
  ///   - country: `nil` for other text than three digits.
  ///   - network: `nil` for other text than two or three digits.
  public init?(country: String, network: String) {
    func isCode(_ text: String) -> Bool { text.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    guard country.utf8.count == 3, (2...3).contains(network.utf8.count), isCode(country), isCode(network) else {
      return nil
    }
    (self.country, self.network) = (country, network)
  }

  /// Reads five or six digits; `nil` for any other text.
  public init?(_ digits: String) {
    self.init(country: String(digits.prefix(3)), network: String(digits.dropFirst(3)))
  }

  /// The country that the mobile country code belongs to, by ISO 3166-1 in lower case, e.g. `at`; `nil` for codes of no country, as of
  /// satellites and tests.
  public var countryName: String? { Self.countries[country] }

  private static let countries: [String: String] = Dictionary(
    uniqueKeysWithValues: table.split(separator: " ").map { (String($0.prefix(3)), String($0.suffix(2))) })

  /// ITU-T E.212's list of mobile country codes, each with its country.
  private static let table = """
    202gr 204nl 206be 208fr 213ad 214es 216hu 218ba 219hr 220rs 221xk 222it 226ro 228ch 230cz 231sk 232at 234gb \
    235gb 238dk 240se 242no 244fi 246lt 247lv 248ee 250ru 255ua 257by 259md 260pl 262de 266gi 268pt 270lu 272ie \
    274is 276al 278mt 280cy 282ge 284bg 286tr 288fo 290gl 292sm 293si 294mk 295li 297me 302ca 308pm 310us 311us \
    312us 313us 314us 316us 334mx 338jm 340gp 342bb 344ag 346ky 348vg 350bm 352gd 354ms 356kn 358lc 360vc 362cw \
    363aw 365ai 366dm 368cu 370do 372ht 374tt 376tc 400az 401kz 402bt 404in 405in 410pk 412af 413lk 414mm 415lb \
    416jo 417sy 418iq 419kw 420sa 421ye 422om 424ae 425il 426bh 427qa 428mn 429np 432ir 434uz 436tj 437kg 438tm \
    440jp 441jp 450kr 452vn 454hk 455mo 456kh 457la 460cn 470bd 472mv 502my 505au 510id 514tl 515ph 520th 525sg \
    528bn 530nz 537pg 539to 540sb 541vu 542fj 546nc 547pf 548ck 549ws 550fm 552pw 553tv 555nu 602eg 603dz 604ma \
    605tn 607gm 608sn 609mr 610ml 611gn 612ci 613bf 614ne 615tg 616bj 617mu 618lr 619sl 620gh 621ng 622td 623cf \
    624cm 625cv 626st 627gq 628ga 629cg 630cd 631ao 632gw 633sc 634sd 635rw 636et 637so 638dj 639ke 640tz 641ug \
    642bi 643mz 645zm 646mg 648zw 649na 650mw 651ls 652bw 653sz 654km 655za 659ss 702bz 704gt 706sv 708hn 710ni \
    712cr 714pa 716pe 722ar 724br 730cl 732co 734ve 736bo 738gy 740ec 744py 746sr 748uy 750fk
    """

  /// As modems write it: `23201`.
  public var digits: String { country + network }

  /// As the control server takes it: `232-01`.
  public var withDash: String { "\(country)-\(network)" }
}

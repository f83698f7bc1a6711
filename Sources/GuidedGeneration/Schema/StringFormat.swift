/// The values of `format` that are enforced, each as the grammar of the document that defines it.
enum StringFormat {
    /// The strings of a format; nil for a name that no edition of JSON Schema defines, which is an annotation.
    /// - Throws: For a format that JSON Schema defines and no automaton can hold.
    static func shape(named name: String, path: String) throws(GrammarError) -> StringShape? {
        switch name {
        case "date": return date
        case "time": return time
        case "date-time": return dateTime
        case "duration": return duration
        case "email": return email
        case "hostname", "host-name": return hostname
        case "ipv4", "ip-address": return ipv4
        case "ipv6": return ipv6
        case "uuid": return uuid
        case "uri": return uri
        case "uri-reference": return uriReference
        case "iri": return iri
        case "iri-reference": return iriReference
        case "json-pointer": return jsonPointer
        case "relative-json-pointer": return relativeJSONPointer
        case "uri-template": return uriTemplate
        case "idn-email", "idn-hostname", "regex":
            throw GrammarError(.unsupported, keyword: "format", path: path, "the format '\(name)' cannot be enforced")
        default: return nil
        }
    }

    /// The patterns below are fixed and known to compile.
    private static func shape(_ pattern: String, maximum: Int? = nil) -> StringShape {
        StringShape(
            automaton: InternedAutomaton(try! RegexCompiler.whole(pattern, dialect: .ecmaScript)), maximum: maximum)
    }

    // MARK: RFC 3339

    /// Days that the month has; 29 February in leap years only.
    private static let datePattern: String = {
        let leapYear = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
        let days =
            "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8])"
        return "(?:[0-9]{4}-(?:\(days))|\(leapYear)-02-29)"
    }()

    /// A leap second stands at the end of a day in UTC only.
    private static let timePattern: String = {
        let time =
            "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:[Zz]|[+\\-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
        return "(?:\(time)|23:59:60(?:\\.[0-9]+)?(?:[Zz]|[+\\-]00:00))"
    }()

    private static let date = shape(datePattern)
    private static let time = shape(timePattern)
    private static let dateTime = shape("\(datePattern)[Tt]\(timePattern)")

    /// Appendix A: units follow one another without a gap.
    private static let duration: StringShape = {
        let time = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
        let date = "(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)"
        return shape("P(?:[0-9]+W|\(date)(?:\(time))?|\(time))")
    }()

    // MARK: Addresses

    /// RFC 1123: labels of letters, digits and inner hyphens, 63 at most, 253 in all.
    private static let hostnamePattern: String = {
        let label = "[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?"
        return "\(label)(?:\\.\(label))*"
    }()

    private static let octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
    private static let ipv4Pattern = "\(octet)(?:\\.\(octet)){3}"

    /// RFC 4291, section 2.2, in the grammar of RFC 3986, written so that what begins alike stands once: an automaton of alternatives
    /// beside one another takes several times as long to make.
    private static let ipv6Pattern: String = {
        let group = "[0-9A-Fa-f]{1,4}"
        /// At most so many groups; the last two may be an IPv4 address.
        func atMost(_ count: Int) -> String {
            switch count {
            case 0: ""
            case 1: "(?:\(group))?"
            default: "(?:\(group)(?::\(group)){0,\(count - 1)}|(?:\(group):){0,\(count - 2)}\(ipv4Pattern))?"
            }
        }
        /// What follows so many groups: the gap, which stands for one group at least, or another group.
        func after(_ count: Int) -> String {
            switch count {
            case 7: ":(?::|\(group))"
            case 6: ":(?::\(atMost(1))|\(ipv4Pattern)|\(group)\(after(7)))"
            default: ":(?::\(atMost(7 - count))|\(group)\(after(count + 1)))"
            }
        }
        return "(?:::\(atMost(7))|\(group)\(after(1)))"
    }()

    private static let hostname = shape(hostnamePattern, maximum: 253)
    private static let ipv4 = shape(ipv4Pattern)
    private static let ipv6 = shape(ipv6Pattern)
    private static let uuid = shape("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")

    /// RFC 5321, section 4.1.2: a dotted or quoted local part, and a host name or an address in brackets.
    private static let email: StringShape = {
        let atom = "[A-Za-z0-9!#$%&'*+\\-/=?^_`{|}~]+"
        let quoted = "\"(?:[ !#-\\[\\]-~]|\\\\[ -~])*\""
        return shape(
            "(?:\(atom)(?:\\.\(atom))*|\(quoted))@(?:\(hostnamePattern)|\\[\(ipv4Pattern)\\]|\\[IPv6:\(ipv6Pattern)\\])"
        )
    }()

    // MARK: RFC 3986 and RFC 3987

    /// - Parameter wide: What RFC 3987 allows besides, as it stands in a class; empty for RFC 3986.
    private static func references(wide: String, privateUse: String) -> (absolute: String, any: String) {
        let escape = "%[0-9A-Fa-f]{2}"
        let plain = "A-Za-z0-9\\-._~\(wide)!$&'()*+,;="
        let character = "(?:[\(plain):@]|\(escape))"
        let userInfo = "(?:[\(plain):]|\(escape))*"
        let name = "(?:[\(plain)]|\(escape))*"
        let future = "v[0-9A-Fa-f]+\\.[A-Za-z0-9\\-._~!$&'()*+,;=:]+"
        let authority = "(?:\(userInfo)@)?(?:\\[(?:\(ipv6Pattern)|\(future))\\]|\(name))(?::[0-9]*)?"
        let segments = "(?:/\(character)*)*"
        let absolutePath = "/(?:\(character)+\(segments))?"
        let rootless = "\(character)+\(segments)"
        let noScheme = "(?:[\(plain)@]|\(escape))+\(segments)"
        let query = "(?:\\?(?:[\(plain):@/?\(privateUse)]|\(escape))*)?"
        let fragment = "(?:#(?:[\(plain):@/?]|\(escape))*)?"
        let scheme = "[A-Za-z][A-Za-z0-9+\\-.]*"
        let rooted = "(?://\(authority)\(segments)|\(absolutePath))"
        let absolute = "\(scheme):(?:\(rooted)|\(rootless)|)\(query)\(fragment)"
        // With a scheme or relative to one; what both have stands once.
        let any = "(?:(?:\(scheme):)?\(rooted)|\(scheme):(?:\(rootless))?|\(noScheme)|)\(query)\(fragment)"
        return (absolute, any)
    }

    private static let wide =
        "\\u{a0}-\\u{d7ff}\\u{f900}-\\u{fdcf}\\u{fdf0}-\\u{ffef}"
        + (1...14).map { plane in
            let digit = String(plane, radix: 16)
            return "\\u{\(digit)\(plane == 14 ? "1000" : "0000")}-\\u{\(digit)fffd}"
        }.joined()
    private static let privateUse = "\\u{e000}-\\u{f8ff}\\u{f0000}-\\u{ffffd}\\u{100000}-\\u{10fffd}"

    private static let uri = shape(references(wide: "", privateUse: "").absolute)
    private static let uriReference = shape(references(wide: "", privateUse: "").any)
    private static let iri = shape(references(wide: wide, privateUse: privateUse).absolute)
    private static let iriReference = shape(references(wide: wide, privateUse: privateUse).any)

    // MARK: RFC 6901 and RFC 6570

    private static let jsonPointer = shape("(?:/(?:[^~/]|~[01])*)*")
    private static let relativeJSONPointer = shape("(?:0|[1-9][0-9]*)(?:#|(?:/(?:[^~/]|~[01])*)*)")
    private static let uriTemplate: StringShape = {
        let escape = "%[0-9A-Fa-f]{2}"
        let literal = "[^\\u{0}- \"'%<>\\\\^`{|}\\u{7f}-\\u{9f}]|\(escape)"
        let character = "(?:[A-Za-z0-9_]|\(escape))"
        let variable = "\(character)(?:\\.?\(character))*(?::[1-9][0-9]{0,3}|\\*)?"
        return shape("(?:\(literal)|\\{[+#./;?&=,!@|]?\(variable)(?:,\(variable))*\\})*")
    }()
}

import Testing

@Suite("@Generable on structs")
struct GenerableStructTests {
    @Test("Properties")
    func properties() {
        print(expand("@Generable struct A {\n    var a: String\n    let b: Int?\n}").source)
        print(expand("@Generable public enum A {\n    case a, b\n}").source)
        print(expand("@Generable enum A {\n    case a(x: Int, String?), b(Int), c\n}").source)
        print(expand("extension SessionPropertyValues {\n    @SessionPropertyEntry var a: Int = 3\n    @SessionPropertyEntry var b = 3\n}").source)
        let e = expand("@Generable struct A {\n    var a = 3\n    @Guide(description: \"x\") static var n: Int = 2\n let b: Int??\n var d: [String: Int]\n}\n@Generable final class B {}")
        print(e.diagnostics, e.fixedSource)
    }
}

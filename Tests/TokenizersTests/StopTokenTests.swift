import Testing
import Tokenizers

struct StopTokenTests {
    @Test(arguments: [
        (["<|im_start|>", "<|im_end|>", "<|endoftext|>"], ["<|im_end|>", "<|endoftext|>"]),
        (["<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"], ["<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"]),
        (["<start_of_turn>", "<end_of_turn>", "<eos>", "<bos>"], ["<end_of_turn>", "<eos>"]),
        (["<|user|>", "<|end|>", "</s>"], ["<|end|>", "</s>"]),
        (["<|start|>", "<|end|>", "<|return|>", "<|call|>"], ["<|return|>", "<|call|>"]),
        (
            ["<|fim_prefix|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>"],
            ["<|fim_pad|>", "<|repo_name|>", "<|file_sep|>"]
        ),
        (["<|tool_response>", "<turn|>", "</s>"], ["<|tool_response>", "<turn|>"]),
        (["plain"], []),
    ])
    func `stop tokens are found by their text`(controls: [String], expected: [String]) throws {
        let tokenizer = try Tokenizer(Fixture.byteLevel(controls: controls))
        #expect(Set(tokenizer.stopTokens.compactMap { tokenizer.name(of: $0) }) == Set(expected))
    }

    @Test
    func `an end of turn that a file calls user-defined is a stop token, an HTML tag is not`() throws {
        let tokenizer = try Tokenizer(Fixture.byteLevel(userDefined: ["<|im_end|>", "</s>"]))
        #expect(tokenizer.stopTokens.compactMap { tokenizer.name(of: $0) } == ["<|im_end|>"])
        let tag = try #require(tokenizer.token(named: "</s>"))
        #expect(tokenizer.encode("</s>", parsesSpecial: false, addsBOS: false) == [tag])
        #expect(tokenizer.decode([tag], skipsSpecial: true) == "</s>")
    }

    @Test
    func `stop tokens named by id are stop tokens whatever their text`() throws {
        var description = Fixture.byteLevel(controls: ["<x>", "<y>", "<z>"])
        let first = TokenID(description.tokens.count - 3)
        description.eosToken = first
        description.eotToken = first + 1
        description.eomToken = first + 2
        #expect(try Tokenizer(description).stopTokens == [first, first + 1, first + 2])
    }

    @Test
    func `a stop token that a file calls normal text is a control token`() throws {
        var description = Fixture.byteLevel(controls: ["<|im_end|>"])
        description.types = []
        let tokenizer = try Tokenizer(description)
        let end = try #require(tokenizer.token(named: "<|im_end|>"))
        #expect(tokenizer.isControl(end))
        #expect(tokenizer.encode("<|im_end|>", parsesSpecial: true, addsBOS: false) == [end])
    }
}

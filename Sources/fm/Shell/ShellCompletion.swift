/// Completion scripts, made from the table of commands, so that they know what `fm` knows.
package enum ShellCompletion: String, CaseIterable {
    case bash, zsh, fish

    package var script: String {
        switch self {
        case .bash: Self.bashScript
        case .zsh: Self.zshScript
        case .fish: Self.fishScript
        }
    }

    /// Where users put the script.
    static let discussion = """
        bash: fm completions bash > ~/.local/share/bash-completion/completions/fm
        zsh:  fm completions zsh > a folder of $fpath, as _fm
        fish: fm completions fish > ~/.config/fish/completions/fm.fish
        """

    /// What a value of an option can be completed with.
    private enum Value { case none, model, file, other }

    private static func value(_ option: Command.Option) -> Value {
        guard let value = option.value else { return .none }
        if option.name == "--model" { return .model }
        return ["FILE", "PATH", "PROGRAM"].contains(value) ? .file : .other
    }

    private static var commands: [Command] { CommandTable.commands }

    private static func operandsAreModels(_ command: Command) -> Bool { ["rm", "pull"].contains(command.name) }

    // MARK: bash

    private static var bashScript: String {
        func names(_ command: Command, _ kind: Value) -> String {
            command.allOptions.filter { value($0) == kind }.flatMap(\.names).joined(separator: "|")
        }
        var text = """
            # Completion of fm for bash; made by 'fm completions bash'.
            _fm() {
                local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
                COMPREPLY=()
                if [ "$COMP_CWORD" -eq 1 ]; then
                    mapfile -t COMPREPLY < <(compgen -W "\(commands.map(\.name).joined(separator: " ")) help --help --version" -- "$word")
                    return
                fi
                case $command in

            """
        for command in commands {
            text += "    \(command.name))\n        case $before in\n"
            let models = names(command, .model), files = names(command, .file), others = names(command, .other)
            if !models.isEmpty {
                text +=
                    "        \(models)) mapfile -t COMPREPLY < <(compgen -W \"$(fm models --quiet 2>/dev/null)\" -f -- \"$word\"); return ;;\n"
            }
            if !files.isEmpty {
                text += "        \(files)) mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return ;;\n"
            }
            if !others.isEmpty { text += "        \(others)) return ;;\n" }
            text += "        esac\n"
            let options = command.allOptions.flatMap(\.names).joined(separator: " ")
            let operands = operandsAreModels(command) ? " $(fm models --quiet 2>/dev/null)" : ""
            text += "        mapfile -t COMPREPLY < <(compgen -W \"\(options)\(operands)\" -- \"$word\") ;;\n"
        }
        text += """
                help) mapfile -t COMPREPLY < <(compgen -W "\(commands.map(\.name).joined(separator: " "))" -- "$word") ;;
                esac
            }
            complete -o default -F _fm fm

            """
        return text
    }

    // MARK: zsh

    private static func quoted(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("'", with: "'\\''").replacing("[", with: "\\[")
            .replacing("]", with: "\\]").replacing(":", with: "\\:")
    }

    private static var zshScript: String {
        var text = """
            #compdef fm
            # Completion of fm for zsh; made by 'fm completions zsh'.
            _fm_models() { local -a names; names=(${(f)"$(fm models --quiet 2>/dev/null)"}); compadd -a names; _files -g '*.gguf' }
            _fm() {
                local -a commands
                commands=(

            """
        for command in commands { text += "        '\(command.name):\(quoted(command.summary))'\n" }
        text += """
                )
                if (( CURRENT == 2 )); then _describe command commands; return; fi
                local command=$words[2]
                shift words
                (( CURRENT-- ))
                case $command in

            """
        for command in commands {
            text += "    \(command.name)) _arguments"
            for option in command.allOptions {
                let action: String
                switch value(option) {
                case .none: action = ""
                case .model: action = ":model:_fm_models"
                case .file: action = ":file:_files"
                case .other: action = ":\(quoted((option.value ?? "").lowercased())):"
                }
                for name in option.names {
                    text += " \\\n        '\(option.isRepeatable ? "*" : "")\(name)[\(quoted(option.help))]\(action)'"
                }
            }
            text +=
                operandsAreModels(command)
                ? " \\\n        '*:model:_fm_models' ;;\n" : " \\\n        '*:: :_files' ;;\n"
        }
        text += """
                help) _describe command commands ;;
                esac
            }
            _fm "$@"

            """
        return text
    }

    // MARK: fish

    private static var fishScript: String {
        func escaped(_ text: String) -> String {
            text.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
        }
        var text = "# Completion of fm for fish; made by 'fm completions fish'.\ncomplete -c fm -f\n"
        for command in commands {
            text += "complete -c fm -n __fish_use_subcommand -a \(command.name) -d '\(escaped(command.summary))'\n"
            let condition = "-n '__fish_seen_subcommand_from \(command.name)'"
            for option in command.allOptions {
                let names = option.names.map { $0.hasPrefix("--") ? "-l \($0.dropFirst(2))" : "-s \($0.dropFirst())" }
                let argument: String
                switch value(option) {
                case .none: argument = ""
                case .model: argument = " -r -F -a '(fm models --quiet 2>/dev/null)'"
                case .file: argument = " -r -F"
                case .other: argument = " -x"
                }
                text +=
                    "complete -c fm \(condition) \(names.joined(separator: " "))\(argument) -d '\(escaped(option.help))'\n"
            }
            if operandsAreModels(command) {
                text += "complete -c fm \(condition) -a '(fm models --quiet 2>/dev/null)'\n"
            }
        }
        return text
    }
}

/// The chat page at `/`: one file without anything to build or to fetch from elsewhere.
enum ChatPage {
    static let html = #"""
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>fm serve</title>
        <style>
        :root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); }
        * { box-sizing: border-box; }
        body { margin: 0; font: 16px/1.5 system-ui, sans-serif; display: flex; flex-direction: column; height: 100vh; }
        header, form { padding: .6rem 1rem; border-bottom: 1px solid var(--line); display: flex; gap: .8rem; align-items: center; }
        header b { flex: 1; }
        main { flex: 1; overflow-y: auto; padding: 1rem; }
        main > div, main > details { max-width: 46rem; margin: 0 auto 1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
        .user { border-left: 3px solid #3b82f6; padding-left: .8rem; }
        .note { opacity: .6; font-size: .8rem; }
        .error { color: #dc2626; }
        table { border-collapse: collapse; } td { border: 1px solid var(--line); padding: .2rem .6rem; vertical-align: top; }
        form { border: 0; border-top: 1px solid var(--line); align-items: flex-end; }
        textarea { flex: 1; font: inherit; padding: .5rem; resize: none; }
        details textarea { width: 100%; height: 8rem; font-family: monospace; font-size: .8rem; }
        button, input { font: inherit; padding: .4rem .9rem; }
        </style>
        </head>
        <body>
        <header><b id="model">…</b><input id="token" type="password" placeholder="token" size="10" hidden><button id="clear" type="button">New</button></header>
        <main id="log" aria-live="polite"></main>
        <details style="padding: 0 1rem"><summary>Typed answers (a JSON Schema)</summary>
        <textarea id="schema" spellcheck="false" placeholder='{"type": "object", "properties": {"title": {"type": "string"}, "steps": {"type": "array", "items": {"type": "string"}}}, "required": ["title", "steps"]}'></textarea></details>
        <form id="form"><textarea id="prompt" rows="2" placeholder="Say something" autofocus></textarea><button id="send">Send</button></form>
        <script>
        "use strict";
        const $ = id => document.getElementById(id);
        let messages = [], running = null;
        const headers = () => Object.assign({"Content-Type": "application/json"}, $("token").value ? {Authorization: "Bearer " + $("token").value} : {});

        function add(kind, text) {
          const element = document.createElement("div");
          element.className = kind;
          element.textContent = text;
          $("log").append(element);
          $("log").scrollTop = $("log").scrollHeight;
          return element;
        }

        // Reads JSON that may end anywhere: closes what is open, and leaves out a member whose value has not begun.
        function partial(text) {
          const open = [];
          let inString = false, safe = "";
          for (let i = 0; i < text.length; i++) {
            const c = text[i];
            if (inString) {
              if (c === "\\") i++;
              else if (c === '"') inString = false;
              continue;
            }
            if (c === '"') inString = true;
            else if (c === "{" || c === "[") open.push(c === "{" ? "}" : "]");
            else if (c === "}" || c === "]") open.pop();
          }
          const end = open.reverse().join("");
          if (inString) { try { return JSON.parse(text + '"' + end); } catch {} }
          for (let cut = text.length; cut > 0; cut--) {
            safe = text.slice(0, cut).replace(/[,:\s]+$/, "");
            try { return JSON.parse(safe + end); } catch {}
            // A key without its value, or a number or word that has only begun.
            if (text.length - cut > 200) return undefined;
          }
        }

        function show(value) {
          if (value === null || typeof value !== "object") return document.createTextNode(String(value));
          const table = document.createElement("table");
          for (const [key, member] of Object.entries(value)) {
            const row = table.insertRow();
            row.insertCell().textContent = key;
            row.insertCell().append(show(member));
          }
          return table;
        }

        async function ask(text) {
          messages.push({role: "user", content: text});
          add("user", text);
          const body = {messages, stream: true, stream_options: {include_usage: true}};
          const schemaText = $("schema").value.trim();
          const element = add("assistant", ""), note = add("note", "…");
          running = new AbortController();
          $("send").textContent = "Stop";
          let answer = "", thoughts = null, first = 0, last = 0, tokens = 0;
          const start = performance.now();
          try {
            if (schemaText) body.response_format = {type: "json_schema", json_schema: {name: "answer", schema: JSON.parse(schemaText)}};
            const response = await fetch("/v1/chat/completions", {method: "POST", headers: headers(), body: JSON.stringify(body), signal: running.signal});
            if (!response.ok) {
              if (response.status === 401) $("token").hidden = false;
              throw new Error((await response.json()).error.message);
            }
            const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
            let buffer = "";
            for (;;) {
              const {value, done} = await reader.read();
              if (done) break;
              buffer += value;
              const lines = buffer.split("\n\n");
              buffer = lines.pop();
              for (const line of lines) {
                if (line === "data: [DONE]") continue;
                const event = JSON.parse(line.slice(6));
                if (event.error) throw new Error(event.error.message);
                if (event.usage) tokens = event.usage.completion_tokens;
                const delta = event.choices[0]?.delta, piece = delta?.content, thought = delta?.reasoning_content;
                if (!piece && !thought) continue;
                last = performance.now();
                first = first || last;
                if (thought) {
                  if (!thoughts) {
                    const box = document.createElement("details"), title = document.createElement("summary");
                    title.textContent = "Thoughts";
                    box.className = "note";
                    box.append(title, thoughts = document.createTextNode(""));
                    element.before(box);
                  }
                  thoughts.data += thought;
                  continue;
                }
                answer += piece;
                const typed = schemaText ? partial(answer) : undefined;
                if (typed !== undefined) element.replaceChildren(show(typed)); else element.textContent = answer;
                $("log").scrollTop = $("log").scrollHeight;
              }
            }
            note.textContent = `${tokens} tokens, first after ${Math.round(first - start)} ms`
              + (tokens > 1 && last > first ? `, ${((tokens - 1) / (last - first) * 1000).toFixed(1)} tokens/s` : "");
          } catch (error) {
            note.className = error.name === "AbortError" ? "note" : "error";
            note.textContent = error.name === "AbortError" ? "stopped" : error.message;
          }
          if (answer) messages.push({role: "assistant", content: answer}); else messages.pop();
          running = null;
          $("send").textContent = "Send";
        }

        $("form").onsubmit = event => {
          event.preventDefault();
          if (running) return running.abort();
          const text = $("prompt").value.trim();
          if (!text) return;
          $("prompt").value = "";
          ask(text);
        };
        $("prompt").onkeydown = event => {
          if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); if (!running) $("form").requestSubmit(); }
        };
        $("clear").onclick = () => { running?.abort(); messages = []; $("log").replaceChildren(); };
        const about = () => fetch("/v1/models", {headers: headers()}).then(async response => {
          if (response.status === 401) { $("token").hidden = false; return; }
          const model = (await response.json()).data[0];
          $("model").textContent = `${model.id}, ${model.context_window} tokens`;
          document.title = model.id;
        }).catch(() => { $("model").textContent = "The server does not answer."; });
        $("token").onchange = about;
        about();
        </script>
        </body>
        </html>
        """#
}

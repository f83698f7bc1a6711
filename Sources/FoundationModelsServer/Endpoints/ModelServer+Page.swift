extension ModelServer {
    /// The page for people who open the server's address in a browser. It may run its own script alone, talk to this
    /// server alone, and stand in no other page.
    func page() -> HTTPResponse {
        var response = HTTPResponse(200, contentType: "text/html; charset=utf-8", ChatPage.html)
        response.headers.append(
            (
                "Content-Security-Policy",
                "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; "
                    + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            ))
        response.headers.append(("Referrer-Policy", "no-referrer"))
        return response
    }
}

/// How long a fetch puts up with a slow or broken connection.
package struct FetchPatience: Sendable {
    /// Seconds until a connection must stand.
    package var connect = 30
    /// A transfer below this many bytes a second ...
    package var slowestRate = 1_000
    /// ... for this many seconds is given up and tried again.
    package var slowSeconds = 60
    /// Failures in a row, without `progressThatCounts` between them, after which the fetch ends.
    package var attempts = 6
    /// Bytes beyond the furthest point so far that make the next failure the first again.
    package var progressThatCounts: Int64 = 1 << 20
    /// The pause after the first failure in seconds; it doubles with each further one, up to 30.
    package var firstPause = 1.0

    package init() {}
}

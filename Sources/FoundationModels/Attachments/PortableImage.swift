// Stand-ins for the two types of Apple's graphics libraries that programs write when they attach images. They exist only where the
// platform has none of its own.
#if canImport(CoreGraphics)
@_exported import CoreGraphics
#else
import Foundation

/// A picture in memory: 8 bits each of red, green, blue and alpha, row by row from the top.
public final class CGImage: Sendable {
    public let width: Int
    public let height: Int
    /// `width * height * 4` bytes.
    public let pixels: Data

    /// - Returns: nil when the number of bytes is not `width * height * 4`, or a side is not positive.
    public init?(width: Int, height: Int, pixels: Data) {
        let (area, overflow) = width.multipliedReportingOverflow(by: height)
        let (size, overflowAgain) = area.multipliedReportingOverflow(by: 4)
        guard width > 0, height > 0, !overflow, !overflowAgain, pixels.count == size else { return nil }
        self.width = width
        self.height = height
        self.pixels = pixels
    }
}

extension CGImage: Equatable {
    public static func == (left: CGImage, right: CGImage) -> Bool {
        left === right
            || (left.width == right.width && left.height == right.height && left.pixels == right.pixels)
    }
}
#endif

#if canImport(ImageIO)
@_exported import ImageIO
#else
/// How a picture has to be turned to be seen upright, as EXIF numbers it.
public enum CGImagePropertyOrientation: UInt32, Sendable {
    case up = 1
    case upMirrored
    case down
    case downMirrored
    case leftMirrored
    case right
    case rightMirrored
    case left
}
#endif

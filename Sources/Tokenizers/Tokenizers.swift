/// The room is named here so that it builds before its first file.

"""Files, byte for byte, of every kind that has ever broken a program that edits text."""

from dataclasses import dataclass

CRLF = b"a\r\nb\r\nc\r\n"
MIXED = b"".join(b"crlf %d\r\nlf %d\n" % (n, n) for n in range(50)) + b"lone\rcr\n"
BOM = b"\xef\xbb\xbfimport os\r\n"
UTF16_BOM = b"\xff\xfe" + "hi\n你好\n".encode("utf-16-le")
UTF16_BARE = "key = value\nother = 2\n".encode("utf-16-le")
GBK = "# 中文注释\nx = 1\nprint('你好，世界')\n".encode("gbk")
SHIFT_JIS = "# 日本語のコメント\nprint('こんにちは')\n".encode("shift_jis")
LATIN = "# déjà vu, café à la crème\nx = 1\n".encode("latin-1")
DAMAGED_UTF8 = "日本語のテキストがここにある\n".encode() + b"bad \xff byte\n"
ASTRAL = "a😀b\n😀x\n𠮷野家\n".encode()
SEPARATORS = "one\u2028still one\u0085still one\x0cstill one\ntwo\n".encode()
ONE_LINE = b"x" * 1_700_000
NO_FINAL_NEWLINE = b"a\nb"
LONE_CR = b"a\rb\rc\r"
PNG = b"\x89PNG\r\n\x1a\n"
NULS = b"\0" * 300


@dataclass(frozen=True, slots=True)
class TextAnimal:
    """A text file: its bytes and the encoding it should be taken for."""

    name: str
    data: bytes
    encoding: str


TEXTS = (
    TextAnimal("crlf", CRLF, "utf-8"),
    TextAnimal("mixed", MIXED, "utf-8"),
    TextAnimal("bom", BOM, "utf-8"),
    TextAnimal("utf-16 with a mark", UTF16_BOM, "utf-16-le"),
    TextAnimal("utf-16 without a mark", UTF16_BARE, "utf-16-le"),
    TextAnimal("big-endian", b"\xfe\xff" + "hi 你\n".encode("utf-16-be"), "utf-16-be"),
    TextAnimal("utf-32", b"\xff\xfe\0\0" + "hi 你\n".encode("utf-32-le"), "utf-32-le"),
    TextAnimal("gbk", GBK, "gb18030"),
    TextAnimal("two characters of gbk", "你好".encode("gbk"), "gb18030"),
    TextAnimal("shift-jis", SHIFT_JIS, "cp932"),
    TextAnimal("latin-1", LATIN, "cp1252"),
    TextAnimal("one accent", "café".encode("latin-1"), "cp1252"),
    TextAnimal("astral", ASTRAL, "utf-8"),
    TextAnimal("separators", SEPARATORS, "utf-8"),
    TextAnimal("no final newline", NO_FINAL_NEWLINE, "utf-8"),
    TextAnimal("lone cr", LONE_CR, "utf-8"),
    TextAnimal("empty", b"", "utf-8"),
    TextAnimal("only a mark", b"\xef\xbb\xbf", "utf-8"),
)

BINARIES = (
    (PNG, "PNG image"),
    (b"\xff\xd8\xff\xe0\x00\x10JFIF", "JPEG image"),
    (b"GIF89a\x01\x00\x01\x00\x80", "GIF image"),
    (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "PDF document"),
    (b"PK\x03\x04\x14\x00\x00\x00", "ZIP archive"),
    (b"\x7fELF\x02\x01\x01\x00", "ELF program"),
    (b"\x1f\x8b\x08\x00\x00\x00", "gzip archive"),
    (b"SQLite format 3\x00\x10\x00", "SQLite database"),
    (NULS, "unknown type"),
    (bytes(range(256)), "unknown type"),
    (b"\x01\x02\xfe\xfd\x03", "unknown type"),
)

"""Encodings of the time before Unicode: short texts are taken for what they are."""

import pytest

from pails.host.encodings import TextFile, decode, encode

SHORT = {
    "gbk": [
        "你好", "中文", "# 中文注释\n", "错误：文件不存在\n", "配置=开启\n",
        "print('你好，世界')\n", "用户名,密码\n张三,1\n李四,2\n", "这是一个测试",
    ],
    "cp932": [
        "こんにちは", "カタカナ", "日本語", "# 日本語\n", "エラー：ファイルがありません\n",
        "設定=オン\n", "東京都\n大阪府\n",
    ],
    "euc_jp": ["こんにちは", "カタカナ", "設定=オン\n", "エラー：ファイルがありません\n"],
    "euc_kr": ["안녕하세요", "한국어", "# 한국어 주석\n", "오류: 파일이 없습니다\n", "설정=켜기\n"],
    "big5": ["繁體中文", "錯誤：檔案不存在\n", "臺北市\n高雄市\n"],
    "cp1251": ["Привет", "Москва", "# комментарий\n", "Ошибка: файл не найден\n"],
    "cp1252": [
        "café", "déjà vu\n", "# à la crème\n", "naïve\n", "élève où\n", "Größe\n", "señor\n",
        "© 2020 “quoted” — dash\n", "un assistant créé pour\n", "À côté, créée.\n",
        "25 °C, 3 µm, §5\n",
    ],
}  # fmt: skip

LONGER = {
    "gbk": "本项目是一个运行在语言服务器中的编程助手。它可以读取文件，并在修改之后检查语法。",
    "cp932": "プロジェクトは言語サーバーで動く支援です。ファイルを読み、変更後に確認します。",
    "euc_kr": "이 프로젝트는 언어 서버에서 실행되는 도우미입니다. 파일을 읽고 검사합니다.",
    "big5": "本專案是一個在語言伺服器中執行的程式助手。它可以讀取檔案，並在修改之後檢查語法。",
    "cp1251": "Этот проект является помощником программиста. Он читает и изменяет файлы на диске.",
    "cp1252": "Ce projet est un assistant déjà prêt pour un élève: il vérifie après ça l’état.",
}
WINDOW = 16


def taken_for(text: str, encoding: str) -> str:
    """The text as it is read from its bytes, which are the same again when written."""
    data = text.encode(encoding)
    file = decode(data)
    assert isinstance(file, TextFile)
    assert encode(file) == data
    return file.text


@pytest.mark.parametrize(
    ("encoding", "text"), [(name, text) for name, texts in SHORT.items() for text in texts]
)
def test_a_few_words_are_enough(encoding, text):
    assert taken_for(text, encoding) == text


@pytest.mark.parametrize("encoding", LONGER)
@pytest.mark.parametrize("frame", ["# {}\n", "{}\r\nfoo(a, b)\r\n", "{}, {}\n"])
def test_any_part_of_a_sentence_is_enough(encoding, frame):
    sentence = LONGER[encoding]
    for start in range(len(sentence) - WINDOW):
        text = frame.replace("{}", sentence[start : start + WINDOW])
        assert taken_for(text, encoding) == text


def test_a_broken_byte_makes_the_text_readable_but_not_writable():
    text = "# 中文注释，有一个字节坏了，其他的都很好\n" * 3
    file = decode(text.encode("gbk") + b"bad \xff byte\n")
    assert isinstance(file, TextFile)
    assert (file.encoding, file.exact) == ("gb18030", False)
    assert file.text == f"{text}bad \ufffd byte\n"


def test_one_line_of_any_length_is_text():
    text = "这是一个没有换行的很长的文件。" * 20_000
    assert taken_for(text, "gbk") == text

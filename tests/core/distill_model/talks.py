"""Conversations that are long enough to be worth a request."""

from __future__ import annotations

_FILL = (
    "The importer walked over the folder last night and wrote a report of what it had found in there, file by file, "
    "with the sizes, the dates and the names of those who had changed them, so that the next one knows where to begin."
)


def talk(about: str = "The archive lives on the machine called heron.", pairs: int = 3) -> list[str]:
    """Somebody says something, and more that fills a conversation."""
    texts = [about, f"Understood. {_FILL}"]
    for number in range(pairs):
        texts += [f"Part {number} of the work is done now. {_FILL}", f"Good, part {number} is noted. {_FILL}"]
    return texts


CHINESE = [
    "我们的归档服务器叫苍鹭，放在机房二楼，每天凌晨三点做一次全量备份，备份保留三十天，由小林负责检查结果。",
    "明白了，归档服务器叫苍鹭，备份由小林检查。昨晚的导入程序已经扫描了整个目录，并且写出了一份报告。",
    "数据库迁移的时候要先停掉写入服务，再导出快照，最后在新机器上恢复，这个顺序不能反过来，否则会丢数据。",
    "好的，顺序是先停写入，再导出快照，最后恢复。我会按照这个顺序准备迁移脚本，并在执行之前再确认一遍。",
]

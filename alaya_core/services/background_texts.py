"""Sentences that have nothing to do with each other: what any model finds alike in them is its background. And
questions with a sentence that answers each: how near these stand is what the model calls related."""

CHINESE: tuple[str, ...] = (
    "昨天晚上我把阳台上的番茄苗移到了大盆里。",
    "数据库连接池的上限设成五十，超时改为三秒。",
    "她小时候住在海边，最怕打雷的夜晚。",
    "这趟高铁晚点了四十分钟，赶不上换乘。",
    "医生说他的膝盖需要休息两个月，不能跑步。",
    "下周的产品评审会改到星期四下午。",
    "外婆做的红烧肉总是先炒糖色再下锅。",
    "登录令牌的有效期是一小时，过期要重新刷新。",
    "那部老电影的结尾，主角一个人走进了雪地。",
    "房租从三月起每个月涨两百块。",
    "孩子们在操场上练习合唱，准备六一的演出。",
    "望远镜里能看见土星的光环，非常清楚。",
)

ENGLISH: tuple[str, ...] = (
    "The landlord finally fixed the leaking pipe under the kitchen sink.",
    "Set the retry limit to three and log every failed request.",
    "My sister adopted a shy grey cat from the shelter last spring.",
    "Interest rates rose by a quarter of a point this month.",
    "He practices the cello for an hour before breakfast.",
    "The migration script drops the old index before it creates the new one.",
    "We hiked up to the glacier and saw two marmots on the way.",
    "She is allergic to peanuts and carries an injector everywhere.",
    "The museum closes early on the first Monday of the month.",
    "Our team lost the final after two overtimes and a penalty.",
    "Knead the dough until it no longer sticks to the bowl.",
    "The unit tests fail on Windows because of path separators.",
)

ANSWERED: tuple[tuple[str, str], ...] = (
    ("小雨对什么过敏？", "小雨对花生严重过敏，任何含花生的东西都不能吃。"),
    ("备份为什么会失败？", "备份失败的原因是容器的内存上限太低，进程被系统杀掉了。"),
    ("他喜欢坐什么位置？", "订机票的时候他总要靠窗的座位。"),
    ("会议改到什么时候了？", "周五的评审会改到下周二上午十点。"),
    ("我们用哪个数据库？", "团队决定所有服务都用 PostgreSQL 存数据。"),
    ("那家餐厅在哪里？", "那家拉面店开在火车站南口旁边的小巷里。"),
    ("Which database did we choose?", "We decided to keep all notes in SQLite with the write-ahead log on."),
    ("When does the lease end?", "The contract for the flat runs out on the last day of June."),
    ("How do I run the tests?", "Run the whole suite with make test before every commit."),
    ("What does she like to drink?", "She always orders green tea without sugar."),
    ("Why did the build break?", "The build failed because the package no longer exports the theme module."),
    ("Where is the spare key?", "The second key to the shed lies under the blue flower pot."),
)

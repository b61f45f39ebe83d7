"""Sentences that have nothing to do with each other: what any model finds alike in them is its background."""

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

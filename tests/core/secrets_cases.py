"""Sixty texts that hold a secret and sixty that do not; the values are invented and built here, none stands as a
    literal.

A true case is (text, value): the value must be gone from the masked text, everything around it must stay.
"""

from __future__ import annotations

import base64
import hashlib
import json
import string

_HEX = "0123456789abcdef"
_WORD = string.ascii_letters + string.digits
_URLSAFE = _WORD + "-_"


def made(length: int, alphabet: str = _WORD, seed: str = "") -> str:
    """An invented value; the same every time."""
    out = ""
    count = 0
    while len(out) < length:
        block = hashlib.sha256(f"{seed}/{alphabet}/{count}".encode()).digest()
        out += "".join(alphabet[byte % len(alphabet)] for byte in block)
        count += 1
    return "a1" + out[2:length] if set("a1") <= set(alphabet) else out[:length]


def _b64(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


_JWT = ".".join((_b64({"alg": "HS256", "typ": "JWT"}), _b64({"sub": "u-17", "exp": 1893456000}), made(43, _URLSAFE)))
_PEM_LINES = "\n".join(made(64, _WORD, f"pem{n}") for n in range(6))
_HEAD, _TAIL = "-----BEGIN RSA PRIV" + "ATE KEY-----", "-----END RSA PRIV" + "ATE KEY-----"
_PEM = f"{_HEAD}\n{_PEM_LINES}\n{_TAIL}"
_PEM_JSON = _PEM.replace("\n", "\\n").replace("RSA ", "")
_GH = "gh" + "p_" + made(36)
_GHPAT = "github" + "_pat_" + made(22) + "_" + made(59)
_ANT = "sk-" + "ant-api03-" + made(60, _URLSAFE)
_OAI = "sk-" + made(48)
_OAIP = "sk-" + "proj-" + made(64, _URLSAFE)
_GL = "gl" + "pat-" + made(20)
_XOXB = "xo" + "xb-" + made(12, string.digits) + "-" + made(24)
_AKIA = "AK" + "IA" + made(16, string.ascii_uppercase + string.digits)
_AWS = made(40, _WORD + "/+", "aws")
_AIZA = "AI" + "za" + made(35, _URLSAFE)
_TG = "71" + made(8, string.digits) + ":AA" + made(33, _URLSAFE)
_STRIPE = "sk_" + "live_" + made(24)
_WHSEC = "whsec" + "_" + made(32)
_NPM = "np" + "m_" + made(36)
_HF = "h" + "f_" + made(34, string.ascii_letters)
_HOOK = f"T{made(8, string.ascii_uppercase)}/B{made(8, string.ascii_uppercase)}/{made(24)}"
_DISCORD_HOOK = "12" + made(16, string.digits) + "/" + made(60, _URLSAFE)
_SG = "S" + "G." + made(22, _URLSAFE) + "." + made(43, _URLSAFE)
_PYPI = "py" + "pi-" + made(80, _URLSAFE)
_HEX32, _HEX40, _HEX64 = made(32, _HEX, "a"), made(40, _HEX, "b"), made(64, _HEX, "c")
_P1, _P2, _P3, _P4 = "Winter" + "Moon!84", "hunter" + "2hunter", "tr0ub" + "4dor&3x", "qwe" + "Asd#0912"
_P5, _P6, _PHRASE = "M1n" + "gT1an2026", "letme" + "inplease", "copper lamp " + "river seventeen"

TRUE: list[tuple[str, str]] = [
    (f"export OPENAI_API_KEY={_OAI}", _OAI),
    (f"my key is {_OAIP}, can you test it?", _OAIP),
    (f"ANTHROPIC: {_ANT}", _ANT),
    (f"git clone https://x-access-token:{_GH}@github.com/acme/app.git", _GH),
    (f"I pushed with {_GH} by accident.", _GH),
    (f"用这个 {_GHPAT} 来拉代码", _GHPAT),
    (f"glab auth login --token {_GL}", _GL),
    (f"SLACK_BOT_TOKEN={_XOXB}", _XOXB),
    (f"aws_access_key_id = {_AKIA}", _AKIA),
    (f"aws_secret_access_key = {_AWS}", _AWS),
    (f'"mapsKey": "{_AIZA}"', _AIZA),
    (f"the bot answers on {_TG} now", _TG),
    (f"机器人 token：{_TG}", _TG),
    (f"Stripe.apiKey = '{_STRIPE}'", _STRIPE),
    (f"webhook secret {_WHSEC}", _WHSEC),
    (f"//registry.npmjs.org/:_authToken={_NPM}", _NPM),
    (f"huggingface-cli login --token {_HF}", _HF),
    (f"curl -X POST https://hooks.slack.com/services/{_HOOK} -d @x", _HOOK),
    (f"https://discord.com/api/webhooks/{_DISCORD_HOOK}", _DISCORD_HOOK),
    (f"SENDGRID {_SG}", _SG),
    (f"twine upload -p {_PYPI}", _PYPI),
    (f"curl -H 'Authorization: Bearer {_JWT}' https://api.test", _JWT),
    (f"session={_JWT};", _JWT),
    (f"here is the file:\n{_PEM}\nplease keep it", _PEM_LINES),
    (f'{{"private_key": "{_PEM_JSON}", "type": "service_account"}}', made(64, _WORD, "pem2")),
    (f"{_HEAD}\n{_PEM_LINES}", _PEM_LINES),
    (f"postgres://app:{_P4}@db.internal:5432/app", _P4),
    (f"DATABASE_URL=mysql+pymysql://root:{_P2}@10.0.0.3/shop", _P2),
    (f"redis://:{_HEX32}@cache:6379/0", _HEX32),
    (f"mongodb+srv://svc:{_P5}@cluster0.mongodb.net", _P5),
    (f"Server=db;Database=hr;User Id=sa;Password={_P1};", _P1),
    (f"password={_P1}", _P1),
    (f"passwd: {_P3}", _P3),
    (f"The wifi password is {_P2}, tell the guests.", _P2),
    (f"the password for the NAS is {_P3}.", _P3),
    (f"DB_PASSWORD={_P6}", _P6),
    (f'PGPASSWORD="{_P1}" psql -h db', _P1),
    (f'{{"user": "ann", "password": "{_P4}"}}', _P4),
    (f'{{\\"password\\": \\"{_P4}\\"}}', _P4),
    (f"'apiKey': '{_HEX32}',", _HEX32),
    (f'"apiKey": "{_HEX40}"', _HEX40),
    (f"api_key: {_HEX64}", _HEX64),
    (f"x-api-key: {made(32)}", made(32)),
    (f"client_secret={made(40, _URLSAFE)}", made(40, _URLSAFE)),
    (f"token: {_HEX40}", _HEX40),
    (f"GET /v1/items?access_token={made(32)}&page=2", made(32)),
    (
        f"Authorization: Basic {base64.b64encode(('ann:' + _P1).encode()).decode()}",
        base64.b64encode(("ann:" + _P1).encode()).decode()),
    (f"Authorization: Bearer {made(32)}", made(32)),
    (f"mysql -u root -p{_P2} shop", _P2),
    (f"curl -u admin:{_P1} http://nas.local", _P1),
    (f"./deploy --password {_P4} --host x", _P4),
    (f"密码：{_P5}", _P5),
    (f"服务器密码是 {_P1}，别告诉别人", _P1),
    (f"口令是{_P2}。", _P2),
    (f"密钥:{_HEX32}", _HEX32),
    ("银行卡密码改成了" + "83" + "1946，记一下", "83" + "1946"),
    (f"数据库密码改为「{_P3}」", _P3),
    (f'passphrase: "{_PHRASE}"', _PHRASE),
    (f"SECRET_KEY = 'django-insecure-{made(50, _WORD + '!@#%^*-_=+()')}'", made(50, _WORD + "!@#%^*-_=+()")),
    (f"spring.datasource.password={_P4}", _P4),
]  # fmt: skip

_IMAGE = base64.b64encode(hashlib.sha512(b"pixels").digest() * 40).decode()
_UUID = "-".join((made(8, _HEX), made(4, _HEX), "4" + made(3, _HEX), "a" + made(3, _HEX), made(12, _HEX)))

FALSE: list[str] = [
    f"commit {_HEX40}",
    f"Merge branch 'main' at {_HEX40[:7]}",
    f"git cherry-pick {_HEX40} {made(40, _HEX, 'z')}",
    f"session {_UUID} started",
    f"request id: {_UUID}",
    f"sha256:{_HEX64}",
    f"{_HEX64}  dist/app.tar.gz",
    f"md5 {_HEX32}",
    f"![shot](data:image/png;base64,{_IMAGE})",
    f'<img src="data:image/jpeg;base64,{_IMAGE}"/>',
    _IMAGE,
    f'"integrity": "sha512-{_IMAGE[:86]}=="',
    "password=<your password>",
    "password: ******",
    "token limit: 4096",
    "max_tokens=4096",
    "密码错误，请重试",
    "echo $PASSWORD",
    "password=$DB_PASSWORD",
    "token: ${TOKEN}",
    'api_key = os.environ["API_KEY"]',
    "const token = process.env.GITHUB_TOKEN;",
    "the password field is required",
    "Password: incorrect",
    "password is required and must be at least 8 characters",
    "def login(user: str, password: str) -> Token:",
    "password: string;",
    "token = tokens[i + 1]",
    "token = next(stream)",
    "secret = getpass.getpass()",
    "api_key=YOUR_API_KEY",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx",
    "sk-learn and sk-image-processing-tools are different packages",
    "https://user:<password>@host/path",
    "postgres://user:password@localhost/db",
    "see https://example.com:8080/a@b",
    "total_tokens: 128000, prompt_tokens: 9000",
    "primary_key = user_id",
    "the key: always lock before you write",
    "the secret is to keep the batch small",
    "nextPageToken: CAUQAA1234567890",
    "密码是必填项",
    "密码长度不能少于 8 位",
    "忘记密码？点这里重置",
    "口令是什么？",
    "密钥管理是下一步的工作",
    "token 是按字数算钱的",
    "请输入密码：",
    "password = config.database.password",
    "password={{ vault_password }}",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA" + made(40) + " ann@laptop",
    "the tokenizer: cl100k_base with 100277 tokens",
    "keyboard shortcut: Ctrl+Shift+P",
    "pip install token-utils==1.2.3",
    "passes: 12, failed: 0",
    "bypass: enabled on host db-17",
    "ERR_TOKEN_EXPIRED: the access token expired 3600 seconds ago",
]

assert len(TRUE) == 60, len(TRUE)
assert len(FALSE) == 60, len(FALSE)

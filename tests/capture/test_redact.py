"""Secrets are masked, everyday values are not (capture.md 9, reliability.md 7)."""

from __future__ import annotations

import json
import os
import random
import string
import time
import unittest
from typing import TYPE_CHECKING, Any

from handoff_core.capture.redact import Redactor, findings, placeholders
from handoff_core.capture.redact_shapes import SHAPES, SHAPES_BY_TRIGGER

from tests.support import shared, vectors

if TYPE_CHECKING:
    from collections.abc import Iterator

ALNUM = string.ascii_letters + string.digits
WORD = ALNUM + "_-"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"
BASE64 = ALNUM + "+/"

# fmt: off
TOKENS = (
    ("github-pat",                          ["ghp_", (ALNUM, 36)]),
    ("github-oauth",                        ["gho_", (ALNUM, 36)]),
    ("github-app-token",                    ["ghu_", (ALNUM, 36)]),
    ("github-app-token",                    ["ghs_", (ALNUM, 76)]),
    ("github-refresh-token",                ["ghr_", (ALNUM, 40)]),
    ("github-fine-grained-pat",             ["github_", "pat_", (ALNUM, 22), "_", (ALNUM, 59)]),
    ("gitlab-pat",                          ["glpat-", (ALNUM, 20)]),
    ("gitlab-pat",                          ["glpat-", (ALNUM, 27), ".", (ALNUM, 2), ".", (ALNUM, 9)]),
    ("gitlab-runner-authentication-token",  ["glrt-", (WORD, 20)]),
    ("gitlab-deploy-token",                 ["gldt-", (WORD, 20)]),
    ("gitlab-cicd-job-token",               ["glcbt-", (ALNUM, 2), "_", (WORD, 20)]),
    ("anthropic-api-key",                   ["sk-", "ant-api03-", (WORD, 93), "AA"]),
    ("anthropic-api-key",                   ["sk-", "ant-oat01-", (WORD, 93), "AA"]),
    ("anthropic-admin-api-key",             ["sk-", "ant-admin01-", (WORD, 93), "AA"]),
    ("openai-api-key",                      ["sk-", "proj-", (WORD, 74), "T3Blbk", "FJ", (WORD, 74)]),
    ("openai-api-key",                      ["sk-", (ALNUM, 20), "T3Blbk", "FJ", (ALNUM, 20)]),
    ("openrouter-api-key",                  ["sk-", "or-v1-", (HEX, 64)]),
    ("sk-key",                              ["sk-", (HEX, 32)]),
    ("huggingface-access-token",            ["hf_", (string.ascii_letters, 34)]),
    ("perplexity-api-key",                  ["pplx-", (ALNUM, 48)]),
    ("aws-access-token",                    ["AKIA", (UPPER, 16)]),
    ("aws-access-token",                    ["ACCA", (UPPER, 16)]),
    ("gcp-api-key",                         ["AIza", (WORD, 35)]),
    ("google-oauth-client-secret",          ["GOCSPX-", (WORD, 28)]),
    ("azure-ad-client-secret",              [(ALNUM, 3), "8Q~", (ALNUM + "~.-", 31), (ALNUM, 3)]),
    ("slack-token",                         ["xoxb-", (string.digits, 12), "-", (ALNUM, 24)]),
    ("slack-app-token",                     ["xapp-1-A", (UPPER, 10), "-", (string.digits, 13), "-", (HEX, 64)]),
    ("discord-bot-token",                   ["M", (ALNUM, 23), ".", (ALNUM, 6), ".", (ALNUM, 27)]),
    ("telegram-bot-api-token",              [(string.digits, 10), ":A", (WORD, 33), "a"]),
    ("stripe-access-token",                 ["sk_", "live_", (ALNUM, 24)]),
    ("stripe-access-token",                 ["rk_", "test_", (ALNUM, 10)]),
    ("stripe-access-token",                 ["sk_", "prod_", (ALNUM, 99)]),
    ("square-access-token",                 ["sq0", "atp-", (WORD, 22)]),
    ("shopify-access-token",                ["shpss_", (HEX, 32)]),
    ("npm-access-token",                    ["npm_", (ALNUM, 36)]),
    ("pypi-upload-token",                   ["pypi-AgEI", "cHlwaS5vcmc", (WORD, 100)]),
    ("rubygems-api-token",                  ["rubygems_", (HEX, 48)]),
    ("docker-pat",                          ["dckr_", "pat_", (WORD, 27)]),
    ("sendgrid-api-token",                  ["SG.", (WORD, 22), ".", (WORD, 43)]),
    ("twilio-api-key",                      ["SK", (HEX, 32)]),
    ("digitalocean-pat",                    ["dop_", "v1_", (HEX, 64)]),
    ("heroku-api-key-v2",                   ["HRKU-", "AA", (WORD, 58)]),
    ("hashicorp-tf-api-token",              [(ALNUM, 14), ".atlas", "v1.", (WORD, 64)]),
    ("vault-service-token",                 ["hvs.", (WORD, 95)]),
    ("vault-service-token",                 ["hvb.", (WORD, 140)]),
    ("databricks-api-token",                ["dapi", (HEX, 32)]),
    ("linear-api-key",                      ["lin_", "api_", (ALNUM, 40)]),
    ("notion-api-token",                    ["ntn_", (string.digits, 11), (ALNUM, 35)]),
    ("sentry-token",                        ["sntryu_", (HEX, 64)]),
    ("sentry-token",                        ["sntrys_", (BASE64, 90)]),
    ("grafana-service-account-token",       ["glsa_", (ALNUM, 32), "_", (HEX, 8)]),
    ("postman-api-token",                   ["PMAK-", (HEX, 24), "-", (HEX, 34)]),
    ("age-secret-key",                      ["AGE-SECRET-", "KEY-1", ("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)]),
    ("1password-service-account-token",     ["ops_", "eyJ", (BASE64, 260)]),
    ("doppler-api-token",                   ["dp.", "pt.", (ALNUM, 43)]),
    ("doppler-api-token",                   ["dp.", "st.", "dev.", (ALNUM, 43)]),
    ("flyio-access-token",                  ["fo1_", (WORD, 43)]),
    ("flyio-access-token",                  ["fm2_", (BASE64, 150)]),
    ("planetscale-token",                   ["pscale_", "oauth_", (WORD, 32)]),
    ("readme-api-token",                    ["rdme_", (string.ascii_lowercase + string.digits, 70)]),
    ("pulumi-api-token",                    ["pul-", (HEX, 40)]),
    ("openshift-user-token",                ["sha256~", (WORD, 43)]),
    ("jwt",                                 ["eyJ", (ALNUM, 20), ".eyJ", (WORD, 80), ".", (WORD, 43)]),
)
# fmt: on
"""A token of each rule as pieces: fixed texts, and alphabets with a number of characters; none stands here whole."""

FRAMES = (
    "{}",
    "export TOKEN={}\n",
    'the key is "{}" ok',
    '{{"value": "{}"}}',
    "({})",
    "see `{}`.",
    "a, {}, b",
    "first line\\n{}\\nlast line",
    "https://h.invalid/?x=%20{}",
)


def made(pieces: list[Any], seed: int) -> str:
    """Return a token made up of pieces; the same for the same seed."""
    dice = random.Random(seed)
    return "".join(p if isinstance(p, str) else "".join(dice.choices(p[0], k=p[1])) for p in pieces)


def mask(text: str) -> str:
    return Redactor().mask(text)


def traces(secret: str, masked: str) -> list[str]:
    """Return the runs of eight characters, not all letters, that are left of a secret; a shorter one itself."""
    if len(secret) < 8:
        return [secret] if secret in masked else []
    runs = [secret[index : index + 8] for index in range(len(secret) - 7)]
    return [run for run in runs if not run.isalpha() and run in masked]


class Vectors(unittest.TestCase):
    def test_every_vector_that_is_promised_holds(self) -> None:
        for vector in vectors("redaction.jsonl"):
            if vector.get("level", "must") != "must":
                continue
            text = "".join(vector["parts"])
            with self.subTest(vector["id"]):
                masked = mask(text)
                if not vector["spans"]:
                    self.assertEqual(masked, text)
                else:
                    self.assertIn("[REDACTED:", masked)
                for start, end in vector["spans"]:
                    self.assertEqual(traces(text[start:end], masked), [])
                self.assertEqual(mask(masked), masked)

    def test_what_is_not_promised_does_no_harm(self) -> None:
        for vector in vectors("redaction.jsonl"):
            masked = mask("".join(vector["parts"]))
            self.assertEqual(mask(masked), masked)


class Shapes(unittest.TestCase):
    def test_each_shape_is_found_in_every_frame_and_named_by_its_rule(self) -> None:
        for number, (rule, pieces) in enumerate(TOKENS):
            for frame in FRAMES:
                token = made(pieces, number)
                text = frame.format(token)
                with self.subTest(rule=rule, frame=frame):
                    masked = mask(text)
                    self.assertEqual(traces(token, masked), [])
                    if "TOKEN=" not in frame:
                        self.assertIn(f"[REDACTED:{rule}:1]", masked)
                        self.assertEqual(masked.count("[REDACTED:"), 1)
                    self.assertEqual(mask(masked), masked)

    def test_every_rule_of_the_table_has_an_example_here(self) -> None:
        elsewhere = {"mailgun-private-api-token"}
        self.assertEqual({shape.rule for shape in SHAPES} - {rule for rule, _ in TOKENS}, elsewhere)

    def test_no_token_is_found_behind_a_word_character(self) -> None:
        for number, (rule, pieces) in enumerate(TOKENS):
            if rule in {"azure-ad-client-secret", "telegram-bot-api-token", "hashicorp-tf-api-token"}:
                continue
            for before in "x7_":
                text = before + made(pieces, number)
                with self.subTest(rule=rule, before=before):
                    self.assertNotIn(f"[REDACTED:{rule}:", mask(text))

    def test_tokens_that_do_not_vary_or_are_examples_are_none(self) -> None:
        self.assertEqual(mask("ghp_" + "x" * 36), "ghp_" + "x" * 36)
        self.assertEqual(mask("ghp_" + "ab" * 18), "ghp_" + "ab" * 18)
        example = made(["AKIA", (UPPER, 9)], 1) + "EXAMPLE"
        self.assertEqual(mask(example), example)

    def test_class_names_are_no_keys(self) -> None:
        text = '<div class="sk-estimator-doc-link-container-for-all fitted">'
        self.assertEqual(mask(text), text)

    def test_a_public_stripe_key_is_none(self) -> None:
        for text in (
            made(["pk_", "live_", (ALNUM, 24)], 3),
            "api_key = '" + made(["pk_", "live_", (ALNUM, 24)], 3) + "'",
        ):
            self.assertEqual(mask(text), text)

    def test_a_mailgun_key_needs_the_word_nearby(self) -> None:
        key = made(["key-", (HEX, 32)], 5)
        self.assertIn("[REDACTED:mailgun-private-api-token:1]", mask(f"auth for mailgun: {key}"))
        self.assertEqual(mask(f"cache {key}"), f"cache {key}")
        self.assertEqual(mask(f"mailgun my-{key}"), f"mailgun my-{key}")

    def test_webhooks_go_whole(self) -> None:
        slack = made(["https://hooks.", "slack.com/services/T", (UPPER, 10), "/B", (UPPER, 10), "/", (ALNUM, 24)], 6)
        discord = made(["https://discord.com/api/", "webhooks/", (string.digits, 18), "/", (WORD, 68)], 7)
        self.assertEqual(mask(f"to {slack}!"), "to [REDACTED:slack-webhook-url:1]!")
        self.assertEqual(mask(f"to {discord} now"), "to [REDACTED:discord-webhook:1] now")

    def test_no_trigger_begins_with_another_one_of_an_equal_first_letter_and_loses_its_rules(self) -> None:
        for trigger, shapes in SHAPES_BY_TRIGGER.items():
            for other in SHAPES_BY_TRIGGER:
                if other and trigger.startswith(other):
                    self.assertLessEqual(set(SHAPES_BY_TRIGGER[other]), set(shapes))


class Places(unittest.TestCase):
    secret = made([(ALNUM, 28), "7x"], 11)

    def assert_masked(self, text: str, secret: str, rule: str) -> None:
        masked = mask(text)
        self.assertEqual(traces(secret, masked), [], text)
        self.assertIn(f"[REDACTED:{rule}:1]", masked)
        self.assertEqual(mask(masked), masked)

    def test_headers(self) -> None:
        for frame in (
            "Authorization: Bearer {}",
            "authorization: bearer {}",
            "-H 'Authorization: Basic {}'",
            "Authorization: token {}",
            '"Authorization": "Bearer {}"',
        ):
            self.assert_masked(frame.format(self.secret), self.secret, "auth-header")
        for frame in ("X-Api-Key: {}", "api-key: {}", '"x-api-key": "{}"'):
            self.assert_masked(frame.format(self.secret), self.secret, "api-key-header")

    def test_session_cookies_only(self) -> None:
        text = f"Set-Cookie: lang=en-GB-2026-x; JSESSIONID={self.secret}; Path=/"
        self.assertEqual(mask(text), "Set-Cookie: lang=en-GB-2026-x; JSESSIONID=[REDACTED:cookie:1]; Path=/")

    def test_passwords_of_addresses(self) -> None:
        for text, secret in (
            ("postgres://app:pa55w.rd@db:5432/x", "pa55w.rd"),
            ("amqps://:s3cr3t@mq", "s3cr3t"),
            ("https://u:a:b%40c1@h/p", "a:b%40c1"),
        ):
            self.assert_masked(text, secret, "url-password")
        for text in ("http://localhost:8080/a@b", "https://<user>:<token>@h", "https://u:$PASS@h", "ssh://git@h:22/x"):
            self.assertEqual(mask(text), text)

    def test_command_lines(self) -> None:
        for text, secret, rule in (
            ("curl -s -u admin:hunter2x https://h", "hunter2x", "curl-auth-user"),
            ("curl --user 'bob:correct horse' h", "correct", "curl-auth-user"),
            ("sshpass -p Tr0ub ssh h", "Tr0ub", "cli-password"),
            ("mysqldump -h db -u root -pS3cr3t! app", "S3cr3t!", "cli-password"),
            ("PGPASSWORD=q1w2e3 psql", "q1w2e3", "cli-password"),
            ("machine h login bob password plugh7", "plugh7", "netrc"),
        ):
            self.assert_masked(text, secret, rule)
        for text in (
            "docker run --user 1000:1000 i",
            "docker run -u node:node i",
            "mysql -p app",
            "mkdir -pv a/b",
            'curl -u "$USER:$PASS" h',
        ):
            self.assertEqual(mask(text), text)

    def test_other_places(self) -> None:
        base32 = made([(UPPER, 26)], 12)
        self.assert_masked(f"otpauth://totp/a:b?secret={base32}&issuer=c", base32, "otpauth")
        auth = made([(ALNUM, 30), "=="], 13)
        self.assert_masked(f'{{"auths": {{"r": {{"auth": "{auth}"}}}}}}', auth, "docker-config")
        self.assert_masked(f"GET /cb?state=1&access_token={self.secret}&x=1", self.secret, "query-secret")
        self.assert_masked(f"/b?X-Amz-Signature={made([(HEX, 64)], 14)}", made([(HEX, 64)], 14), "query-secret")
        key = made([(BASE64, 86), "=="], 15)
        self.assert_masked(f"AccountName=a;AccountKey={key};E=1", key, "azure-storage-key")
        aws = made([(BASE64, 39), "b"], 16)
        self.assert_masked(f"aws_secret_access_key = {aws}", aws, "aws-secret-key")

    def test_assignments_in_every_spelling(self) -> None:
        for name in ("api_key", "clientSecret", "ACCESS_TOKEN", "private-key", "credential", "signingKey", "API key"):
            for frame in ("{}={}", "{}: {}", '"{}": "{}"', "{} := '{}'", "'{}' => '{}'", '\\"{}\\":\\"{}\\"'):
                self.assert_masked(frame.format(name, self.secret), self.secret, "secret-assignment")
        for frame in ("DB_PASSWORD={}", 'passphrase: "{}"', 'config["passwd"] = "{}"', "--password={}", "SMTP_PASS={}"):
            self.assert_masked(frame.format("Tr0ub4dor"), "Tr0ub4dor", "secret-assignment")

    def test_code_and_prose_are_none(self) -> None:
        for text in (
            "password = user_password",
            "password=self._password,",
            'token = os.environ["API_TOKEN"]',
            "apiKey: process.env.API_KEY_V2",
            "token: getToken(user1, 'x9')",
            "const secret = secrets[env_2024];",
            'password = input("Enter the password: ", mask="x")',
            'print("password:", value, "and more text")',
            "passwordHash: 5f4dcc3b5aa765d61d8327deb882cf99",
            "token_type: bearer-token-v2-2024",
            "max_tokens=4096000 and input_tokens: 123456789012",
            'token_expires: "2026-12-31T23:59:48.765Z"',
            "secret: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "secret_path: ./config/secrets/prod-2.yaml",
            "the token claude-opus-4-5-20251101 was used",
            "token: 550e8400-e29b-41d4-a716-446655440000",
            "password: https://docs.invalid/reset-1",
            "PASSWORD=your-password-1",
            "OPENAI_API_KEY=sk-your-key-here-1234567890abcdef",
            '"auth": "AuthenticationService"',
            "rsync -u user@host:/path/file1 .",
            "POSTGRES_PASSWORD: postgres",
            "password: z.string().min(8),",
            "https://user@host.invalid/path:80@x",
            "image: repo/app@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "The basic idea is to use token based authentication-2",
        ):
            self.assertEqual(mask(text), text)

    def test_a_private_key_goes_to_its_end_or_to_the_end_of_the_text(self) -> None:
        dash = "-----"
        body = "\n".join(made([(BASE64, 64)], seed) for seed in range(5))
        for break_ in ("\n", "\r\n", "\\n"):
            head, end = f"{dash}BEGIN RSA PRIVATE KEY{dash}", f"{dash}END RSA PRIVATE KEY{dash}"
            whole = f"a {head}\n{body}\n{end} b".replace("\n", break_)
            self.assertEqual(mask(whole), "a [REDACTED:private-key:1] b")
            self.assertEqual(mask(whole[:200]), "a [REDACTED:private-key:1]")
        numbered = "\n".join(f"     {n}\t{line}" for n, line in enumerate([head, *body.split("\n"), end], 1))
        self.assertEqual(traces(body.split("\n")[2], mask(numbered)), [])
        for text in (f"{dash}BEGIN PRIVATE KEY{dash} is the header", f"{dash}BEGIN PRIVATE KEY{dash}\n...\n"):
            self.assertEqual(mask(text), text)


class Placeholders(unittest.TestCase):
    def test_equal_secrets_stay_equal_and_are_numbered_as_they_appear(self) -> None:
        first, second = made(["ghp_", (ALNUM, 36)], 1), made(["npm_", (ALNUM, 36)], 2)
        redactor = Redactor()
        self.assertEqual(redactor.mask(f"{first} {second}"), "[REDACTED:github-pat:1] [REDACTED:npm-access-token:2]")
        self.assertEqual(redactor.mask(f"again {first}"), "again [REDACTED:github-pat:1]")
        self.assertEqual((redactor.masked, redactor.secrets), (3, 2))
        self.assertEqual(redactor.rules, {"github-pat": 2, "npm-access-token": 1})

    def test_colour_codes_and_invisible_characters_hide_nothing(self) -> None:
        token = made(["ghp_", (ALNUM, 36)], 3)
        for inside in ("\x1b[0m", "\x1b[38;5;12m", "\u200b", "\u00ad", "\ufeff", "\u2060"):
            text = f"é {token[:9]}{inside}{token[9:]} 😀"
            self.assertEqual(mask(text), "é [REDACTED:github-pat:1] 😀")
        redactor = Redactor()
        redactor.mask(token[:9] + "\u200b" + token[9:])
        self.assertEqual(redactor.mask(token), "[REDACTED:github-pat:1]")

    def test_no_finding_touches_a_placeholder(self) -> None:
        for text in (
            "password: [REDACTED:secret-assignment:12]",
            "token=[REDACTED:jwt]",
            'password="[REDACTED:secret-assignment:1]-and-more-1"',
            "https://u:[REDACTED:url-password:3]@h",
        ):
            self.assertEqual(mask(text), text)

    def test_offsets_are_those_of_the_masked_text(self) -> None:
        token = made(["ghp_", (ALNUM, 36)], 4)
        masked = mask(f"é {token} and {token}")
        self.assertEqual(list(placeholders(masked)), [(1, "github-pat", 2), (1, "github-pat", 30)])

    def test_findings_are_places_in_code_points(self) -> None:
        token = made(["ghp_", (ALNUM, 36)], 5)
        (finding,) = findings(f"😀é{token}é")
        self.assertEqual((finding.start, finding.end, finding.rule), (2, 42, "github-pat"))

    def test_nothing_is_masked_when_masking_is_off(self) -> None:
        token = made(["ghp_", (ALNUM, 36)], 6)
        redactor = Redactor(enabled=False)
        self.assertEqual(redactor.mask(token), token)
        value = {"token": token}
        self.assertIs(redactor.mask_value(value), value)
        self.assertEqual(redactor.mode, "off")

    def test_masking_a_masked_text_changes_nothing_whatever_the_text(self) -> None:
        dice = random.Random(20261201)
        pieces = ["".join(vector["parts"]) for vector in vectors("redaction.jsonl")]
        between = [
            " ",
            "\n",
            '"',
            "'",
            "=",
            ":",
            "-",
            ".",
            "a",
            "7",
            "\\n",
            "://",
            "@",
            "password",
            "token: ",
            "key",
            "é",
        ]
        for _ in range(1500):
            parts = [dice.choice(between) if dice.random() < 0.5 else dice.choice(pieces)[:200] for _ in range(5)]
            masked = mask("".join(parts))
            self.assertEqual(mask(masked), masked)


class Values(unittest.TestCase):
    def test_texts_inside_a_value_are_masked_and_the_rest_stays(self) -> None:
        token = made(["ghp_", (ALNUM, 36)], 1)
        value = {"command": f"echo {token}", "list": [1, None, {"deep": token}], token: True}
        self.assertEqual(
            Redactor().mask_value(value),
            {
                "command": "echo [REDACTED:github-pat:1]",
                "list": [1, None, {"deep": "[REDACTED:github-pat:1]"}],
                "[REDACTED:github-pat:1]": True,
            },
        )

    def test_the_very_same_value_comes_back_when_nothing_is_found(self) -> None:
        value = {"a": ["b", {"c": "d"}], "token": "short"}
        self.assertIs(Redactor().mask_value(value), value)

    def test_the_name_of_a_member_counts(self) -> None:
        masked = Redactor().mask_value(
            {"password": 'say "Tr0ub4dor"', "api_key": made([(ALNUM, 30)], 2), "path": "/tmp/x1"}
        )
        self.assertEqual(
            masked,
            {
                "password": "[REDACTED:secret-assignment:1]",
                "api_key": "[REDACTED:secret-assignment:2]",
                "path": "/tmp/x1",
            },
        )


CHAINS = (
    "a", "eyJ", "sk-", "password=", "x://a:", "-----BEGIN ", "_", "ey-", "token=", "key", "Bearer ", "-u", 'password="',
    "glpat-Ab3dEfGh1jKlMn0pQrSt", "cookie:a;", "password=/", "mysql ", "login password ", "\x1b[0m", "[REDACTED:a:1]",
    "-----BEGIN PRIVATE KEY-----\n",
)  # fmt: skip
"""Texts that, one after the other, begin a rule again and again."""


class Everyday(unittest.TestCase):
    def test_real_transcripts_without_secrets_hold_none(self) -> None:
        texts = 0
        found = []
        for text in transcript_texts(shared("transcripts")):
            texts += len(text)
            found += [text[max(0, f.start - 40) : f.end][:160] for f in findings(text)]
        self.assertGreater(texts, 5_000_000)
        self.assertEqual(found, [])

    def test_masking_is_linear(self) -> None:
        token = made(["ghp_", (ALNUM, 36)], 8)
        for unit in CHAINS:
            with self.subTest(unit):
                short, long = (seconds(unit * (size // len(unit)) + " " + token) for size in (1 << 16, 1 << 19))
                self.assertLess(long, 8 * 4 * short + 0.5)


def transcript_texts(folder: str) -> Iterator[str]:
    """Yield each file of the transcripts as a text, and every text in its records."""
    for base, _, names in os.walk(folder):
        for name in sorted(names):
            if name.endswith((".db", ".db-wal", ".db-shm", ".zst", ".zstd")):
                continue
            with open(os.path.join(base, name), encoding="utf-8", errors="replace") as opened:
                whole = opened.read()
            yield whole
            for line in whole.split("\n"):
                try:
                    value = json.loads(line)
                except ValueError:
                    continue
                yield from texts_of(value)


def texts_of(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_of(inner)


def seconds(text: str) -> float:
    """Return the processor time of masking a text."""
    begun = time.process_time()
    mask(text)
    return time.process_time() - begun

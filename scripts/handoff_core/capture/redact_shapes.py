"""Lists the tokens that are known by their shape (reliability.md 7.2): one row per rule, with a guard beside it.

A new token is a new row. Every repeat of a pattern is bounded, so one look at one place costs a bounded time.
Imports `redact_values` alone.
"""

from __future__ import annotations

import re

from handoff_core.capture.redact_values import Text, has_digit_and_letter, is_varied

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from handoff_core.capture.redact_values import Span


class Shape:
    """A rule for tokens: what they begin with, and the whole pattern, looked for from `back` characters before that.

    A token that `holds` a fixed text near its beginning is looked at only where that text is.
    """

    __slots__ = ("back", "guard", "holds", "pattern", "rule", "triggers")

    def __init__(
        self,
        rule: str,
        triggers: str,
        pattern: bytes,
        guard: Callable[[Text, int, int], bool],
        back: int = 0,
        holds: bytes = b"",
    ) -> None:
        self.rule = rule
        self.triggers = tuple(trigger.encode() for trigger in triggers.split()) or (b"",)
        self.pattern = re.compile(pattern)
        self.guard = guard
        self.back = back
        self.holds = holds

    def span(self, text: Text, at: int) -> Span | None:
        """Return the token whose trigger stands at `at`, if there is one."""
        if self.holds and text.raw.find(self.holds, at, at + _HOLDS_WITHIN) < 0:
            return None
        if self.back:
            found = self.pattern.search(text.raw, max(0, at - self.back), at + 100)
        else:
            found = self.pattern.match(text.raw, at)
        if found is None or not self.guard(text, found.start(), found.end()):
            return None
        return found.start(), found.end(), self.rule


_HOLDS_WITHIN = 600
"""Characters from the beginning of a token within which its fixed text stands."""


def varied(text: Text, start: int, end: int) -> bool:
    """Hold for a varied token."""
    return is_varied(text.value(start, end))


def varied_with_letter(text: Text, start: int, end: int) -> bool:
    """Hold for a varied token with a digit and a letter after its prefix; names of classes have no digit."""
    value = text.value(start, end)
    return is_varied(value) and has_digit_and_letter(value[3:])


def near_mailgun(text: Text, start: int, end: int) -> bool:
    """Hold for a token with no word character or `-` before it and the word mailgun within 40 characters."""
    return text.raw[start - 1 : start] != b"-" and b"mailgun" in text.low[max(0, start - 47) : end + 47]


def any_token(_text: Text, _start: int, _end: int) -> bool:
    """Hold for every token: the shape says it all."""
    return True


_L = rb"(?:(?<!\w)|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2}))"
_R = rb"(?!\w)"

# fmt: off
SHAPES = (
    Shape("github-pat",                  "ghp_",            rb"ghp_[0-9A-Za-z]{36,255}" + _R, varied),
    Shape("github-oauth",                "gho_",            rb"gho_[0-9A-Za-z]{36,255}" + _R, varied),
    Shape("github-app-token",            "ghu_ ghs_",       rb"gh[us]_[0-9A-Za-z]{36,255}" + _R, varied),
    Shape("github-refresh-token",        "ghr_",            rb"ghr_[0-9A-Za-z]{36,255}" + _R, varied),
    Shape("github-fine-grained-pat",     "github_pat_",     rb"github_pat_\w{60,255}", varied),
    Shape("gitlab-pat",                  "glpat-",          rb"glpat-[\w.-]{20,300}", varied),
    Shape("gitlab-runner-authentication-token", "glrt-",    rb"glrt-[\w.-]{20,300}", varied),
    Shape("gitlab-deploy-token",         "gldt-",           rb"gldt-[\w.-]{20,300}", varied),
    Shape("gitlab-cicd-job-token",       "glcbt-",          rb"glcbt-[0-9A-Za-z]{1,5}_[\w.-]{20,300}", varied),
    Shape("anthropic-api-key",           "sk-ant-",            rb"sk-ant-(?:api|oat|sid)\d\d-[\w-]{80,120}", varied),
    Shape("anthropic-admin-api-key",     "sk-ant-",            rb"sk-ant-admin\d\d-[\w-]{80,120}", varied),
    Shape("openai-api-key",              "sk-",             rb"sk-[\w-]{20,120}T3BlbkFJ[\w-]{20,120}", varied,
                                                            holds=b"T3BlbkFJ"),
    Shape("openrouter-api-key",          "sk-or-",            rb"sk-or-v1-[0-9a-fA-F]{64}" + _R, varied),
    Shape("sk-key",                      "sk-",
          rb"sk-(?=[A-Za-z_-]{0,200}+\d)[0-9A-Za-z][\w-]{31,200}", varied_with_letter),
    Shape("huggingface-access-token",    "hf_",             rb"hf_[0-9A-Za-z]{34,100}" + _R, varied),
    Shape("perplexity-api-key",          "pplx-",           rb"pplx-[0-9A-Za-z]{48,100}" + _R, varied),
    Shape("aws-access-token",            "AKIA ASIA ABIA ACCA", rb"A(?:KI|SI|BI|CC)A[A-Z2-7]{16}(?![A-Z0-9])", varied),
    Shape("gcp-api-key",                 "AIza",            rb"AIza[\w-]{35}", varied),
    Shape("google-oauth-client-secret",  "GOCSPX-",         rb"GOCSPX-[\w-]{28}", varied),
    Shape("azure-ad-client-secret",      "",                _L + rb"(?<![~.])[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~.-])",
                                                            varied, back=6),
    Shape("slack-token",                 "xox",             rb"xox[a-zA-Z]-[\w-]{20,300}", varied),
    Shape("slack-app-token",             "xapp-",
          rb"xapp-\d-[0-9A-Za-z]{1,40}-\d{1,40}-[0-9a-fA-F]{40,128}", varied),
    Shape("discord-bot-token",           "M N O",           rb"[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}", varied),
    Shape("telegram-bot-api-token",      "A",               rb"(?<!\d)\d{5,16}:A[\w-]{34}(?![\w-])",
                                                            varied, back=17),
    Shape("stripe-access-token",         "sk_ rk_",
          rb"[sr]k_(?:test|live|prod)_[0-9A-Za-z]{10,99}" + _R, varied),
    Shape("square-access-token",         "sq0atp- sq0csp-", rb"sq0(?:atp|csp)-[\w-]{22,60}", varied),
    Shape("shopify-access-token",        "shpat_ shpca_ shppa_ shpss_", rb"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}", varied),
    Shape("npm-access-token",            "npm_",            rb"npm_[0-9A-Za-z]{36}", varied),
    Shape("pypi-upload-token",           "pypi-",           rb"pypi-AgEIcHlwaS5vcmc[\w-]{50,1000}", varied),
    Shape("rubygems-api-token",          "rubygems_",       rb"rubygems_[0-9a-fA-F]{48}", varied),
    Shape("docker-pat",                  "dckr_",           rb"dckr_(?:pat|oat)_[\w-]{27,32}", varied),
    Shape("sendgrid-api-token",          "SG.",             rb"SG\.[\w-]{22}\.[\w-]{43}", any_token),
    Shape("mailgun-private-api-token",   "key-",            rb"key-[0-9a-fA-F]{32}", near_mailgun),
    Shape("twilio-api-key",              "SK",              rb"SK[0-9a-f]{32}" + _R, varied),
    Shape("digitalocean-pat",            "dop_v1_ doo_v1_ dor_v1_", rb"do[por]_v1_[0-9a-fA-F]{64}", varied),
    Shape("heroku-api-key-v2",           "HRKU-",           rb"HRKU-AA[\w-]{58}", varied),
    Shape("hashicorp-tf-api-token",      "atlasv1.",
          _L + rb"[0-9A-Za-z]{14}\.atlasv1\.[\w=-]{60,70}", varied, back=15),
    Shape("vault-service-token",         "hvs. hvb.",       rb"hv[sb]\.[\w-]{90,160}", varied),
    Shape("databricks-api-token",        "dapi",            rb"dapi[0-9a-fA-F]{32}(?:-\d)?", varied),
    Shape("linear-api-key",              "lin_api_",        rb"lin_api_[0-9A-Za-z]{40}", varied),
    Shape("notion-api-token",            "ntn_",            rb"ntn_\d{11}[0-9A-Za-z]{35}", varied),
    Shape("sentry-token",                "sntryu_ sntrys_", rb"sntry[us]_[\w+/=-]{60,1000}", varied),
    Shape("grafana-service-account-token", "glsa_",         rb"glsa_[0-9A-Za-z]{32}_[0-9a-fA-F]{8}", varied),
    Shape("postman-api-token",           "PMAK-",           rb"PMAK-[0-9a-fA-F]{24}-[0-9a-fA-F]{34}", varied),
    Shape("age-secret-key",              "AGE-SECRET-KEY-1",
          rb"AGE-SECRET-KEY-1[02-9AC-HJ-NP-Zac-hj-np-z]{58}", varied),
    Shape("1password-service-account-token", "ops_eyJ",     rb"ops_eyJ[\w+/=-]{250,4000}", varied),
    Shape("doppler-api-token",           "dp.",
          rb"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{1,35}\.)?[0-9A-Za-z]{40,44}", varied),
    Shape("flyio-access-token",          "fo1_",            rb"fo1_[\w-]{43}", varied),
    Shape("flyio-access-token",          "fm1a_ fm1r_ fm2_", rb"fm(?:1[ar]|2)_[\w+/=-]{100,4000}", varied),
    Shape("planetscale-token",           "pscale_",         rb"pscale_(?:tkn|pw|oauth)_[\w.=-]{32,64}", varied),
    Shape("readme-api-token",            "rdme_",           rb"rdme_[0-9A-Za-z]{70}", varied),
    Shape("pulumi-api-token",            "pul-",            rb"pul-[0-9a-fA-F]{40}", varied),
    Shape("openshift-user-token",        "sha256~",         rb"sha256~[\w-]{43}", varied),
    Shape("jwt",                         "ey",
          rb"ey[\w-]{13,590}\.ey[\w-]{13,8192}\.[\w-]{10,8192}", varied,
                                                            holds=b".ey"),
)
# fmt: on


_SHORT_TRIGGERS = (rb"(?<=Q~)()", rb"(?<=:)(A)")
"""Triggers that are too short to be told by themselves, with what must stand before them."""


def _trigger_pattern() -> re.Pattern[bytes]:
    r"""Return the pattern of all triggers behind an edge, alternatives with the same first byte taken together.

    An edge is a character that is no word character, or an escape of JSON or of an address (`\n`, `%20`). A trigger
    that comes twice in a row begins no token.
    """
    by_first: dict[bytes, list[bytes]] = {}
    for trigger in sorted({trigger for shape in SHAPES for trigger in shape.triggers}, key=len, reverse=True):
        if trigger not in {b"", b"A"}:
            by_first.setdefault(trigger[:1], []).append(re.escape(trigger[1:]))
    options = [re.escape(first) + b"(?:" + b"|".join(rests) + b")" for first, rests in by_first.items()]
    looked_for = b"|".join([b"(" + b"|".join(options) + rb")(?!\1)", *_SHORT_TRIGGERS])
    return re.compile(rb"\W(?:(?<=\\)[nrtbf]|(?<=%)[0-9A-Fa-f]{2})?(?=" + looked_for + b")")


TRIGGERS = _trigger_pattern()
"""Finds the places in a run of token characters where a token may begin; its last group is the trigger."""

SHAPES_BY_TRIGGER = {
    trigger: [shape for shape in SHAPES if shape.triggers != (b"",) and trigger.startswith(shape.triggers)]
    for trigger in sorted({trigger for shape in SHAPES for trigger in shape.triggers if trigger})
}
"""For each trigger the rules to try: those with it, and those with a shorter one that it begins with."""

SHAPES_BY_TRIGGER[b""] = [shape for shape in SHAPES if shape.triggers == (b"",)]

RUN_LENGTH = 18
"""Token characters in a row below which no shape fits; the shortest token has 18."""

RUN_TABLE = bytes(119 if chr(byte).isalnum() or chr(byte) in "_-.~+/=" else 32 for byte in range(128)) + b" " * 128
"""Translates token characters to `w` and all others to blanks."""

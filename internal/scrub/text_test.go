package scrub

import (
	"strings"
	"testing"
)

func TestTextHidesSecrets(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		// URLs
		{"dial postgres://app:hunter2@db:5432/x: refused", "dial postgres://app:[hidden]@db:5432/x: refused"},
		{"redis://:hunter2@cache:6379/0", "redis://:[hidden]@cache:6379/0"},
		{"https://user:p%40ss@host/a?b=c", "https://user:[hidden]@host/a?b=c"},
		{"amqp://u:p@ss@host/", "amqp://u:[hidden]@host/"},
		{"postgres://u:pa/ss@host/db", "postgres://u:[hidden]@host/db"},
		{"postgres://u:1234@host/db", "postgres://u:[hidden]@host/db"},
		{"https://0123abc@o1.ingest.sentry.io/7", "https://[hidden]@o1.ingest.sentry.io/7"},
		{`parse "postgres://u:pa ss@host/db": bad`, `parse "postgres://u:[hidden]@host/db": bad`},
		{`parse "postgres://u:pa/ss@host/db": invalid port ":pa" after host`, `parse "postgres://u:[hidden]@host/db": invalid port "[hidden]" after host`},
		{"two: a://u:p@h b://v:q@i", "two: a://u:[hidden]@h b://v:[hidden]@i"},
		{"app:hunter2@tcp(db:3306)/shop", "app:[hidden]@tcp(db:3306)/shop"},
		{"GET https://x.test/a?token=abc&page=2", "GET https://x.test/a?token=[hidden]&page=2"},
		{"https://x.test/cb?access_token=abc#frag", "https://x.test/cb?access_token=[hidden]"},

		// headers
		{"Authorization: Bearer abc.def.ghi", "Authorization: [hidden]"},
		{"authorization: Basic dXNlcjpwYXNz\nAccept: */*", "authorization: [hidden]\nAccept: */*"},
		{"Cookie: sid=1; theme=dark", "Cookie: [hidden]"},
		{`{"Set-Cookie":"sid=1; Path=/","Accept":"x"}`, `{"Set-Cookie":"[hidden]","Accept":"x"}`},
		{"map[Authorization:[Bearer abc] Accept:[x]]", "map[Authorization:[hidden]"},
		{"X-Api-Key: 12345", "X-Api-Key: [hidden]"},
		{"sent bearer 7f3a9c01", "sent bearer [hidden]"},
		{"token ghx81jz00q was refused", "token [hidden] was refused"},

		// names and values
		{"password=hunter2", "password=[hidden]"},
		{"PASSWORD = 'hunter 2' user=app", "PASSWORD = '[hidden]' user=app"},
		{"host=db password=hunter2 user=app", "host=db password=[hidden] user=app"},
		{"Server=db;Pwd=a,b;User=x", "Server=db;Pwd=[hidden];User=x"},
		{"pass word: hunter2", "pass word: [hidden]"},
		{"api key: k-1", "api key: [hidden]"},
		{"db.password: hunter2, db.user: app", "db.password: [hidden], db.user: app"},
		{`{"clientSecret": "a\"b", "x": 1}`, `{"clientSecret": "[hidden]", "x": 1}`},
		{`body {\"password\":\"a b\",\"x\":1}`, `body {\"password\":\"[hidden]\",\"x\":1}`},
		{`{"password":"cut of`, `{"password":"[hidden]`},
		{"secret := `a b`", "secret := `[hidden]`"},
		{"{token => abc}", "{token => [hidden]}"},
		{"run: mysql --password hunter2 -u app", "run: mysql --password [hidden] -u app"},
		{"run: x --api-token=abc -v", "run: x --api-token=[hidden] -v"},
		{"SENTRY_DSN=https://k@h/1", "SENTRY_DSN=[hidden]"},
		{"tokens=abc", "tokens=[hidden]"},

		// known forms
		{"got eyJhbGciOiJI.eyJzdWIi.sig-1 back", "got [hidden] back"},
		{"key AKIAIOSFODNN7EXAMPLE", "key [hidden]"},
		{"ghp_0123456789abcdefghijABCD", "[hidden]"},
		{"xoxb-123456789012-abc", "[hidden]"},
		{"sk_live_0123456789abc", "[hidden]"},
		{"a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b", "a [hidden] b"},
		{"a -----BEGIN PRIVATE KEY-----\nMII", "a [hidden]"},
	} {
		if got := Text(test.text); got != test.want {
			t.Errorf("%q\n became %q\n want   %q", test.text, got, test.want)
		}
		if again := Text(test.want); again != test.want {
			t.Errorf("%q became %q the second time", test.want, again)
		}
	}
}

// TestTextLeavesTheRest wants errors to stay readable.
func TestTextLeavesTheRest(t *testing.T) {
	for _, text := range []string{
		"", "connection refused", "dial tcp 10.0.0.1:5432: connect: connection refused",
		"invalid token: expired", "unexpected token: expected a number", "password: is missing", "the token is missing",
		"params.password: must not be empty", "http://host:8080/path/a@b", "postgres://app@db/x", "see http://a.test/x and mail a@b.test",
		"max_tokens=4096", "total tokens: 12", "basic knowledge of things", "a bearer of news", "author: me", "passed: 7", "compass=N",
		"cookie: not set", "panic: runtime error: index out of range [5] with length 3",
		"token", "password", "secret", "2026-11-15T12:00:00Z", "wordsnippet=1", "http://[::1]:80/a@b",
		"auth/token.go:25: bad", "File \"password.py\", line 3", "token_test.go:7:3",
	} {
		if got := Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestALongTextIsLookedThroughQuickly(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("password=", 1_500), strings.Repeat(`token: "`, 1_500), strings.Repeat("a://b:c@", 1_500),
		strings.Repeat("Authorization: ", 1_000), strings.Repeat("-----BEGIN PRIVATE KEY-----", 500), strings.Repeat("eyJ", 5_000),
	} {
		if again := Text(Text(text)); again != Text(text) {
			t.Errorf("%.20q… does not come to rest", text)
		}
	}
}

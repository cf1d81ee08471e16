package scrub

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// listed are the names whose values must always be hidden, in every spelling.
var listed = []string{
	"password", "passwd", "passphrase", "secret", "token", "api key", "authorization", "cookie", "credential", "credentials",
	"private key", "dsn", "access token", "refresh token", "client secret", "secret key", "access key", "session id", "auth", "pwd",
	"db password", "sentry dsn", "x api key", "proxy authorization", "set cookie", "jwt", "otp", "connection string", "bearer",
}

// spellings writes a name in every style.
func spellings(name string) []string {
	words := strings.Fields(name)
	var camel, title string
	for i, word := range words {
		capital := strings.ToUpper(word[:1]) + word[1:]
		title += capital
		if i == 0 {
			capital = word
		}
		camel += capital
	}
	join := func(sep string) string { return strings.Join(words, sep) }
	all := []string{
		camel, title, join("_"), join("-"), join("."), join(" "),
		strings.ToUpper(join("_")), strings.ToUpper(join("-")), "my_" + join("_"), "db." + join("."), join("_") + "_old",
	}
	if len(words) > 1 || len(name) > 4 { // auth, otp and their like are words of their own, or nothing
		all = append(all, join(""), strings.ToUpper(join("")), "the"+join(""))
	}
	return all
}

func TestKeyRecognizesEverySpelling(t *testing.T) {
	for _, name := range listed {
		for _, key := range spellings(name) {
			if !Key(key) {
				t.Errorf("%q is not known for a secret", key)
			}
		}
	}
	for _, key := range []string{
		"", "user", "name", "author", "authors", "compass", "passenger", "keyboard", "key", "wordsnippet", "id", "url",
		"monkey", "public_key_id", "optics", "passed", "bypass_cache", "description",
	} {
		if Key(key) {
			t.Errorf("%q is taken for a secret", key)
		}
	}
}

func TestJSONHidesEveryValueOfAListedKey(t *testing.T) {
	const mark = "S3CR3T"
	values := []string{
		`"` + mark + `"`, `["` + mark + `"]`, `{"a": "` + mark + `"}`, `[[{"a": ["` + mark + `"]}]]`, `{"` + mark + `": 1}`,
	}
	frames := []string{`{%q: %s}`, `{"a": {%q: %s}}`, `[1, {%q: %s}]`, `{"x": [{"y": {%q: %s}}], "z": null}`}
	for _, name := range listed {
		for _, key := range spellings(name) {
			for _, value := range values {
				for _, frame := range frames {
					text := fmt.Sprintf(frame, key, value)
					if got := JSON([]byte(text)); strings.Contains(string(got), mark) || !json.Valid(got) {
						t.Fatalf("%s became %s", text, got)
					}
				}
			}
		}
	}
}

func TestJSON(t *testing.T) {
	deep := strings.Repeat("[", 200) + `"x"` + strings.Repeat("]", 200)
	for _, test := range []struct{ text, want string }{
		{`{"b": 1, "a": 2.50, "password": "x", "a": 1e400}`, `{"b":1,"a":2.50,"password":"[hidden]","a":1e400}`},
		{
			`{"password": null, "token": true, "secret": "", "pwd": 7, "max_tokens": 100, "tokens": ["a"]}`,
			`{"password":null,"token":true,"secret":"","pwd":"[hidden]","max_tokens":100,"tokens":"[hidden]"}`,
		},
		{
			`{"headers": [{"name": "Authorization", "value": "x"}, {"name": "Accept", "value": "y"}]}`,
			`{"headers":[{"name":"Authorization","value":"[hidden]"},{"name":"Accept","value":"y"}]}`,
		},
		{`[{"value": "x", "key": "API_KEY"}]`, `[{"value":"[hidden]","key":"API_KEY"}]`},
		{`{"args": ["-u", "app", "--password", "x", "--token=y", "z"]}`, `{"args":["-u","app","--password","[hidden]","--token=[hidden]","z"]}`},
		{`[["Cookie", "x"], ["Accept", "y"]]`, `[["Cookie","[hidden]"],["Accept","y"]]`},
		{`["password", "user", "token"]`, `["password","user","token"]`},
		{`{"env": ["DB_PASSWORD=x", "A=b"]}`, `{"env":["DB_PASSWORD=[hidden]","A=b"]}`},
		{`{"url": "https://u:p@h/x", "body": "{\"secret\":\"x\"}"}`, `{"url":"https://u:[hidden]@h/x","body":"{\"secret\":\"[hidden]\"}"}`},
		{`{"Bearer 0123456789": 1}`, `{"Bearer [hidden]":"[hidden]"}`},
		{`{"html": "<a & b>", "é": "\u00e9\u2028"}`, `{"html":"<a & b>","é":"é\u2028"}`},
		{`"just text, token=x"`, `"just text, token=[hidden]"`},
		{
			`{"to": "https://hooks.slack.com/services/T0/B0/x", "say": ["whsec_0123456789", "Bearer abcdefghijklmnopqrstuvwxyz"]}`,
			`{"to":"https://hooks.slack.com/services/[hidden]","say":["[hidden]","Bearer [hidden]"]}`,
		},
		{`17`, `17`},
		{`null`, `null`},
		{``, `null`},
		{`[]`, `[]`},
		{`{}`, `{}`},
		{`{"a": `, `"[not JSON]"`},
		{`secret`, `"[not JSON]"`},
		{`1 2`, `"[not JSON]"`},
		{deep, strings.Repeat("[", depthMax+1) + `"[hidden]"` + strings.Repeat("]", depthMax+1)},
	} {
		got := JSON([]byte(test.text))
		if string(got) != test.want {
			t.Errorf("%s\n became %s\n want   %s", test.text, got, test.want)
		}
		if again := JSON(got); string(again) != string(got) {
			t.Errorf("%s became %s the second time", got, again)
		}
	}
}

// FuzzJSON checks four properties for any input: no panic, the output is JSON, a
// second pass changes nothing, and the value of a listed key is hidden.
func FuzzJSON(f *testing.F) {
	for i, seed := range []string{
		`{"a": [1, "x", null], "password": {"b": 2}}`, `"postgres://u:p@h/d?token=x"`, `{"k": "Authorization: Bearer abc"}`,
		`[{"name": "cookie", "value": "v"}]`, `{"x": "a -----BEGIN PRIVATE KEY----- b"}`, `"hooks.slack.com/services/T/B/token=x"`,
		`"Bearer abcdefgh_whsec_abcdefgh"`, `"discord.com/api/webhooks/1/https://u:p@h"`, `{`, ``, `"\ud800"`, "\"\xff\"",
	} {
		f.Add([]byte(seed), i, `a", "b`)
	}
	f.Fuzz(func(t *testing.T, text []byte, pick int, secret string) {
		once := JSON(text)
		if !json.Valid(once) {
			t.Fatalf("%q became %q, which is not JSON", text, once)
		}
		if twice := JSON(once); string(twice) != string(once) {
			t.Fatalf("%q became %q and then %q", text, once, twice)
		}
		if free := Text(string(text)); Text(free) != free {
			t.Fatalf("%q became %q and then %q", text, free, Text(free))
		}
		const mark = "zQ9xW7"
		names := spellings(listed[index(pick, len(listed))])
		key, _ := json.Marshal(names[index(pick/len(listed), len(names))])
		value, _ := json.Marshal(mark + secret + mark)
		if !json.Valid(text) {
			text = []byte("0")
		}
		for _, frame := range []string{`{%[1]s: %[2]s, "rest": %[3]s}`, `{"rest": %[3]s, "in": [{%[1]s: [%[2]s, %[3]s]}]}`} {
			whole := fmt.Sprintf(frame, key, value, text)
			if strings.Contains(string(text), mark) {
				return
			}
			if got := JSON([]byte(whole)); strings.Contains(string(got), mark) || !json.Valid(got) {
				t.Fatalf("%s became %s", whole, got)
			}
		}
	})
}

func index(n, size int) int { return ((n % size) + size) % size }

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
		{"sent rota_k7m2p9qxw4ht_Zq8vJ2LmPw4Xn6Rt1Yb3Kc5Df7Gh9SaE twice", "sent [hidden] twice"},
		{"with token rota_k7m2p9qxw4ht_Zq8vJ2LmPw4Xn6Rt1Yb3Kc5Df7Gh9SaE", "with token [hidden]"},
		{"with token rota_k7m2p9qxw4ht_Zq8vJ2Lm", "with token [hidden]"},
		{"token rota_k7m2p9qxw4htZq8v", "token [hidden]"},
		{"token ghx81jz00q was refused", "token [hidden] was refused"},
		{"Bearer abcdefghijklmnopqrstuvwxyz", "Bearer [hidden]"},
		{"sent Bearer hunterab, then Basic hunterab", "sent Bearer [hidden], then Basic [hidden]"},
		{"Bearer Bearer abcdefgh", "Bearer Bearer [hidden]"},
		{"a bearer token abcdefgh", "a bearer token [hidden]"},
		{"refused: Token abcdefgh", "refused: Token [hidden]"},
		{"?auth=Bearer%20abcdefghijkl", "?auth=[hidden]"},
		{"bearer=abc", "bearer=[hidden]"},

		// SQL
		{"ALTER ROLE app WITH PASSWORD 'hunter2' VALID UNTIL 'infinity'", "ALTER ROLE app WITH PASSWORD '[hidden]' VALID UNTIL 'infinity'"},
		{"create user app encrypted password\n  E'hun\\'ter''2'; SELECT 'x'", "create user app encrypted password\n  E'[hidden]'; SELECT 'x'"},
		{"CREATE USER app IDENTIFIED BY 'hunter2'", "CREATE USER app IDENTIFIED BY '[hidden]'"},
		{`CREATE USER app IDENTIFIED WITH mysql_native_password BY "hunter2"`, "CREATE USER app IDENTIFIED WITH mysql_native_password BY '[hidden]'"},
		{"ALTER USER app PASSWORD 'cut of", "ALTER USER app PASSWORD '[hidden]'"},

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
		{"token: Bearer abc, then more", "token: [hidden], then more"},

		// options of programs
		{"exec: mysqldump -u app -phunter2 shop", "exec: mysqldump -u app -p[hidden] shop"},
		{"/usr/bin/mysql -p'hun ter2' shop | gzip", "/usr/bin/mysql -p'[hidden]' shop | gzip"},
		{`mariadb-dump -p"hunter2"`, `mariadb-dump -p"[hidden]"`},
		{"sshpass -p hunter2 ssh host", "sshpass -p [hidden] ssh host"},
		{"curl -s -u app:hunter2 https://x.test/", "curl -s -u app:[hidden] https://x.test/"},
		{"curl -sSu app:hunter2 x.test && curl --user 'app:hunter2' y.test", "curl -sSu app:[hidden] x.test && curl --user 'app:[hidden]' y.test"},
		{"curl --proxy-user=app:hunter2 x.test", "curl --proxy-user=app:[hidden] x.test"},
		{"lftp -u app,hunter2 ftp.test", "lftp -u app,[hidden] ftp.test"},
		{"redis-cli -a hunter2 flushall", "redis-cli -a [hidden] flushall"},
		{"influx query -t hunter2 -o org", "influx query -t [hidden] -o org"},
		{"rclone sync --sftp-pass hunter2 a b:c", "rclone sync --sftp-pass [hidden] a b:c"},
		{"rclone sync --sftp-pass=hunter2 a b:c", "rclone sync --sftp-pass=[hidden] a b:c"},
		{"ldapsearch -x -w hunter2", "ldapsearch -x -w [hidden]"},
		{"zip -r -P hunter2 a.zip a", "zip -r -P [hidden] a.zip a"},
		{"smbclient //h/s -U app%hunter2", "smbclient //h/s -U app%[hidden]"},
		{"openssl enc -aes256 -pass pass:hunter2", "openssl enc -aes256 -pass pass:[hidden]"},
		{"htpasswd -b file app hunter2", "htpasswd -b file app [hidden]"},
		{"mount -o user=a,pass=hunter2 //h/s /mnt", "mount -o user=a,pass=[hidden] //h/s /mnt"},
		{"curl --data 'user=a&pass=hunter2' x.test", "curl --data 'user=a&pass=[hidden]' x.test"},
		{"DB_PASS=hunter2 backup", "DB_PASS=[hidden] backup"},
		{"redis-cli -h db --pass hunter2 ping", "redis-cli -h db --pass [hidden] ping"},
		{"curl https://x.test/?key=hunter2", "curl https://x.test/?key=[hidden]"},
		{"curl 'https://x.test/a?b=c&auth=hunter2#d'", "curl 'https://x.test/a?b=c&auth=[hidden]#d'"},
		{"curl https://x.test/?token=hunter2", "curl https://x.test/?token=[hidden]"},
		{"http -a app:hunter2 x.test", "http -a app:[hidden] x.test"},
		{"https --auth='app:hunter2' x.test", "https --auth='app:[hidden]' x.test"},
		{"mosquitto_pub -h h -u a -P hunter2 -t t -m 1", "mosquitto_pub -h h -u a -P [hidden] -t t -m 1"},
		{"mosquitto_sub --pw hunter2 -t t", "mosquitto_sub --pw [hidden] -t t"},
		{"ncftpput -u a -p hunter2 h /dir f", "ncftpput -u a -p [hidden] h /dir f"},
		{"sqlplus -s app/hunter2@db @run.sql", "sqlplus -s app/[hidden] @run.sql"},
		{"exp app/hunter2 file=a.dmp", "exp app/[hidden] file=a.dmp"},
		{"expdp userid=app/hunter2@db", "expdp userid=app/[hidden]"},
		{"snmpget -v2c -c hunter2 h sysUpTime", "snmpget -v2c -c [hidden] h sysUpTime"},
		{"smbclient //h/s hunter2 -U app", "smbclient //h/s [hidden] -U app"},
		{"echo hunter2 | sudo -S reboot", "echo [hidden] | sudo -S reboot"},
		{"printf 'hunter2' | sudo -u a -kS id", "printf '[hidden]' | sudo -u a -kS id"},
		{"echo 'a:hunter2' | chpasswd", "echo '[hidden]' | chpasswd"},
		{"ftp -n h\nbinary\nuser a hunter2\nput f", "ftp -n h\nbinary\nuser a [hidden]\nput f"},

		// known forms
		{"got eyJhbGciOiJI.eyJzdWIi.sig-1 back", "got [hidden] back"},
		{"key AKIAIOSFODNN7EXAMPLE", "key [hidden]"},
		{"ghp_0123456789abcdefghijABCD", "[hidden]"},
		{"xoxb-123456789012-abc", "[hidden]"},
		{"sk_live_0123456789abc", "[hidden]"},
		{"sk_test_abcdefgh", "[hidden]"},
		{"signed with whsec_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567ABCDEFGHIJKLMNOPQRST", "signed with [hidden]"},
		{"old_whsec_abcdefgh", "old_[hidden]"},
		{"github_pat_11ABCDEFG0_abcdefghij", "[hidden]"},
		{"xoxp-abcdefgh", "[hidden]"},
		{"xapp-1-A0123-456", "[hidden]"},

		// addresses that are secrets
		{
			`Post "https://hooks.slack.com/services/T0AB/B0CD/xYz123": 404 Not Found`,
			`Post "https://hooks.slack.com/services/[hidden]": 404 Not Found`,
		},
		{"(hooks.slack.com/services/T0/B0/x), and on", "(hooks.slack.com/services/[hidden]), and on"},
		{`{\"to\":\"https:\/\/hooks.slack.com\/services\/T0\/B0\/x\"}`, `{\"to\":\"https:\/\/hooks.slack.com\/services\/[hidden]\"}`},
		{"?to=https%3A%2F%2Fhooks.slack.com%2Fservices%2FT0%2FB0%2Fx&a=b", "?to=https%3A%2F%2Fhooks.slack.com%2Fservices%2F[hidden]&a=b"},
		{"https://discord.com/api/webhooks/123456/a-b_C?wait=true", "https://discord.com/api/webhooks/[hidden]?wait=true"},
		{"https://discordapp.com/api/v10/webhooks/123456/abc", "https://discordapp.com/api/v10/webhooks/[hidden]"},
		{"https://x.webhook.office.com/webhookb2/a@b/IncomingWebhook/c/d", "https://x.webhook.office.com/webhookb2/[hidden]"},
		{"https://api.telegram.org/bot123:ABC-d/sendMessage", "https://api.telegram.org/bot[hidden]"},

		{"a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b", "a [hidden] b"},
		{"a -----BEGIN PRIVATE KEY-----\nMII", "a [hidden]"},
		{`"-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----\n"`, `"[hidden]\n"`},
	} {
		if got := Text(test.text); got != test.want {
			t.Errorf("%q\n became %q\n want   %q", test.text, got, test.want)
		}
		if again := Text(test.want); again != test.want {
			t.Errorf("%q became %q the second time", test.want, again)
		}
	}
}

// TestTextKeepsOrdinaryErrors checks that errors without secrets do not change.
func TestTextKeepsOrdinaryErrors(t *testing.T) {
	for _, text := range []string{
		"", "connection refused", "dial tcp 10.0.0.1:5432: connect: connection refused",
		"invalid token: expired", "unexpected token: expected a number", "password: is missing", "the token is missing",
		"params.password: must not be empty", "http://host:8080/path/a@b", "postgres://app@db/x", "see http://a.test/x and mail a@b.test",
		"max_tokens=4096", "total tokens: 12", "basic knowledge of things", "a bearer of news", "author: me", "passed: 7", "compass=N",
		"cookie: not set", "panic: runtime error: index out of range [5] with length 3",
		"token", "password", "secret", "2026-11-15T12:00:00Z", "wordsnippet=1", "http://[::1]:80/a@b",
		"invalid token provided", "basic authentication required", "bearer token validation failed", "unexpected token undefined in JSON",
		"the secret whsec_test of an example", "highs_and_lows", "risk-assessment-of-everything", "https://slack.com/help",
		"mysql -p shop", "mysqldump -p$PASS shop", `mysql -p"$PASS" shop`, "mysql --port=3306 -P 3306 shop", "mkdir -p /a/b", "ssh -p 22 host",
		"curl -u app https://x.test/", "curl -U app x.test:80", "echo mysql; mkdir -p /a", "zip -r a.zip a", "cp -p a b", "mysql | nc -p8000",
		"smbclient //h/s -c ls", "sqlplus /nolog @a/b.sql", "exp file=/a/b.dmp", "export a/b", "expected a/b", "echo done | sudo tee f", "PASS: TestX", "bypass=1", "compass=N",
		"openssl enc -pass file:/run/key", "user a was not found", "sftp: failed\nuser unknown", "snmpget -v 2c h", "monkey=1", "http -a",
		"http from 192.0.2.7 with token rota_k7m2p9qxw4ht", "token rota_k7m2p9qxw4ht has the scope read, which does not allow this",
		"auth/token.go:25: bad", "File \"password.py\", line 3", "token_test.go:7:3",
	} {
		if got := Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestLongTextIsScrubbedInTime(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("password=", 1_500), strings.Repeat(`token: "`, 1_500), strings.Repeat("a://b:c@", 1_500),
		strings.Repeat("Authorization: ", 1_000), strings.Repeat("-----BEGIN PRIVATE KEY-----", 500), strings.Repeat("eyJ", 5_000),
		strings.Repeat("hooks.slack.com/services/", 500), strings.Repeat("Bearer ", 1_500), strings.Repeat("_whsec_", 2_000),
	} {
		if again := Text(Text(text)); again != Text(text) {
			t.Errorf("%.20q… does not come to rest", text)
		}
	}
}

// FuzzText puts a secret of a known form into any text: it is hidden, and a second pass changes nothing.
func FuzzText(f *testing.F) {
	for i, seed := range []string{"", "Bearer", `{"a":"`, "token=", "http://u:", "-----BEGIN PRIVATE KEY-----", "Cookie: a; b=", "basic knowledge", "hooks.slack.com/"} {
		f.Add(seed, i, " and on")
	}
	frames := []string{
		"Bearer %", "bearer token %", "Basic %", "token %", "whsec_%", "sk_live_%", "ghp_%", "github_pat_%", "xoxb-%", "password=%", "https://u:%@host/",
		"https://hooks.slack.com/services/T0/B0/%", "https://discord.com/api/webhooks/1/%",
	}
	f.Fuzz(func(t *testing.T, before string, pick int, after string) {
		const secret = "zqzxwvjkqzxw"
		if strings.Contains(before+after, secret) {
			return
		}
		text := before + " " + strings.Replace(frames[index(pick, len(frames))], "%", secret, 1) + " " + after
		once := Text(text)
		if strings.Contains(once, secret) {
			t.Errorf("%q became %q", text, once)
		}
		if twice := Text(once); twice != once {
			t.Errorf("%q became %q and then %q", text, once, twice)
		}
	})
}

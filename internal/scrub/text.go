package scrub

import (
	"regexp"
	"slices"
	"strings"
)

// passesMax bounds the passes over a text. After one secret is hidden, the rest may look
// like another. A text that still changes after the last pass is hidden whole.
const passesMax = 8

// Text hides what looks like a secret in a text: passwords in URLs, headers with
// credentials, values assigned to a name as in password=…, password options and inputs of
// known programs, keys of a known form, private keys.
func Text(text string) string {
	for range passesMax {
		once := pass(text)
		if once == text {
			return text
		}
		text = once
	}
	return Hidden
}

// pass applies once the rules whose hints are in the text. A text without hints
// costs little.
func pass(text string) string {
	low := strings.ToLower(text)
	for _, r := range rules {
		if slices.ContainsFunc(r.hints, func(hint string) bool { return strings.Contains(low, hint) }) {
			text = r.hide(text)
		}
	}
	return text
}

// rules are applied in this order: the most exact ones first. A rule
// applies only to a text with one of its hints, compared in lower case.
var rules = []struct {
	hints []string
	hide  func(string) string
}{
	{[]string{"private key"}, hidePrivateKeys},
	{[]string{"://", "invalid port"}, hideURLs},
	{[]string{"key=", "auth=", "sig=", "signature="}, hideQueries},
	{[]string{"@tcp", "@udp", "@unix"}, hideSources},
	{[]string{"slack", "discord", "webhook.office", "telegram"}, hidePaths},
	{[]string{"authorization", "cookie"}, hideHeaders},
	{[]string{"password", "identified"}, hideLiterals},
	{[]string{"pass", "pwd", "secret", "token", "key", "credential", "session", "connection", "authorization", "cookie", "dsn", "jwt", "bearer"}, hideAssigned},
	{[]string{
		"mysql", "mariadb", "7z", "rar", "sshpass", "mongo", "login", "rabbitmq", "curl", "lftp", "redis", "ldap", "zip", "sql", "bcp", "ipmi",
		"smb", "rpc", "net ", "openssl", "htpasswd", "ncftp", "http ", "https ", "xh ", "xhs ", "mosquitto", "snmp", "rman", "exp", "imp", "influx",
	}, hideOptions},
	{[]string{"echo", "printf", "ftp"}, hideInputs},
	{[]string{"bearer", "basic", "digest", "negotiate", "token", "key"}, hideBearers},
	{[]string{"eyj", "akia", "asia", "gh", "github_pat_", "glpat-", "xox", "xapp-", "whsec_", "k_live", "k_test", "sk-", "aiza", "ya29.", "npm_", "rota_"}, hideKnownKeys},
}

var privateKey = regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|\z)`)

func hidePrivateKeys(text string) string { return privateKey.ReplaceAllLiteralString(text, Hidden) }

// source is the DSN form of the MySQL driver.
var source = regexp.MustCompile(`([^\s:/@"']*):(\S+)@(tcp6?|udp|unix)\(`)

func hideSources(text string) string { return source.ReplaceAllString(text, "${1}:"+Hidden+"@${3}(") }

// literal is a password in an SQL statement: ALTER ROLE app PASSWORD '…', CREATE USER app IDENTIFIED BY '…'. One
// that is not closed extends to the end of the text.
var literal = regexp.MustCompile(`(?is)\b((?:password|identified[ \t\r\n]+(?:with[ \t\r\n]+\S+[ \t\r\n]+)?(?:by|as))[ \t\r\n]+(?:E|U&|N)?)` +
	`(?:'(?:[^'\\]|''|\\.)*\\?'?|"(?:[^"\\]|""|\\.)*\\?"?)`)

func hideLiterals(text string) string { return literal.ReplaceAllString(text, "${1}'"+Hidden+"'") }

// bearer is a credential after one or more names of schemes: bearer token …, or a repeated Bearer Bearer ….
var bearer = regexp.MustCompile(`(?i)\b((?:(?:bearer|basic|digest|negotiate|token|api-?key)(?:[ \t]+|%20))+)([A-Za-z0-9._~+/=\-]{6,})`)

func hideBearers(text string) string {
	return replace(bearer, text, func(m []string) string {
		if prose(m[2]) || schemeProse(m[2]) || tokenName(m[2]) || len(m[2]) < proofMin && !looksEncoded(m[2]) {
			return m[0]
		}
		return m[1] + Hidden
	})
}

// tokenName matches the public name of a token of Rota, which the audit shows. The token itself goes on with its secret.
var tokenName = regexp.MustCompile(`^rota_[a-km-np-z2-9]{12}[.,;:!]?$`).MatchString

// proofMin is the length from which any word after a scheme counts as a credential.
const proofMin = 8

// looksEncoded distinguishes a short credential from a word: basic skills, but Basic dXNlcg==.
var looksEncoded = regexp.MustCompile(`[0-9A-Z=]`).MatchString

// schemeProse reports whether a word is a long word of the sentence after the name of a scheme.
func schemeProse(word string) bool {
	return slices.Contains(schemeWords, strings.ToLower(strings.TrimRight(word, ".,;:!")))
}

var schemeWords = strings.Fields(`authentication authorization bearer character contains credentials digest endpoint exchange expiration
	generation identifier information introspection knowledge literal negotiate position provided received refreshed request response
	revocation sequence signature undefined validation verification`)

// knownKeyForms match keys with a known form, including the tokens and the webhook secrets of Rota.
var knownKeyForms = regexp.MustCompile(`(\b|_)(?:` +
	`eyJ[A-Za-z0-9_\-]{6,}\.[A-Za-z0-9_\-]+\.?[A-Za-z0-9_\-]*` + // JSON Web Token
	`|A[KS]IA[0-9A-Z]{12,}` + // AWS
	`|gh[pousr]_[A-Za-z0-9]{10,}|github_pat_[A-Za-z0-9_]{10,}` +
	`|glpat-[A-Za-z0-9_\-]{10,}` +
	`|xox[a-z]-[A-Za-z0-9\-]{8,}|xapp-[A-Za-z0-9\-]{8,}` + // Slack
	`|whsec_[A-Za-z0-9+/=_\-]{8,}` + // webhooks, of Rota and others
	`|[sr]k_(?:live|test)_[A-Za-z0-9]{8,}` + // Stripe
	`|sk-[A-Za-z0-9_\-]{20,}` +
	`|AIza[0-9A-Za-z_\-]{30,}` + // Google
	`|ya29\.[0-9A-Za-z_\-]{10,}` +
	`|npm_[A-Za-z0-9]{30,}` +
	`|rota_[a-km-np-z2-9]{12}_[A-Za-z0-9]{8,}` + // Rota: a token with its secret
	`)`)

func hideKnownKeys(text string) string { return knownKeyForms.ReplaceAllString(text, "${1}"+Hidden) }

// replace is ReplaceAllStringFunc with what the groups matched.
func replace(re *regexp.Regexp, text string, with func(groups []string) string) string {
	return re.ReplaceAllStringFunc(text, func(match string) string { return with(re.FindStringSubmatch(match)) })
}

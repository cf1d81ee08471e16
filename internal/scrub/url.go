package scrub

import (
	"regexp"
	"strings"
)

// A password in a URL extends from the first colon after the scheme to the last @.
// A password that is not encoded may contain delimiters, and even spaces in a quoted
// URL, as errors show one that cannot be parsed.
var (
	quotedURL = regexp.MustCompile(`("[A-Za-z][A-Za-z0-9+.\-]*://[^\s:/?#@"'<>\[\]]*):([^"\n]*)@`)
	plainURL  = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.\-]*://[^\s:/?#@"'<>\[\]]*):([^\s"'<>]*)@`)
	// keyURL has a key in place of a user, as the DSN of a Sentry project.
	keyURL = regexp.MustCompile(`(?i)(https?://)([^\s/?#@:"'<>]+)@`)
	// badPort is the beginning of a password that was parsed as a port.
	badPort = regexp.MustCompile(`(invalid port \\*")[^"\\]*(\\*")`)
)

func hideURLs(text string) string {
	text = replace(quotedURL, text, hidePassword)
	text = replace(plainURL, text, hidePassword)
	text = keyURL.ReplaceAllString(text, "${1}"+Hidden+"@")
	return badPort.ReplaceAllString(text, "${1}"+Hidden+"${2}")
}

func hidePassword(m []string) string {
	password := m[2]
	host := password[:len(password)-len(strings.TrimLeft(password, "0123456789"))]
	if rest := password[len(host):]; password == "" || rest != "" && strings.ContainsAny(rest[:1], "/?#") {
		return m[0] // the colon is before a port, and the @ belongs to a later part
	}
	return m[1] + ":" + Hidden + "@"
}

// query is a parameter of a URL whose name is a secret only there.
var query = regexp.MustCompile(`(?i)([?&](?:key|auth|sig|signature)=)[^\s&#"'<>]+`)

func hideQueries(text string) string { return query.ReplaceAllString(text, "${1}"+Hidden) }

// secretPath is a URL whose path is the secret that grants write access.
var secretPath = regexp.MustCompile(`(?i)(` +
	`hooks\.slack(?:-gov)?\.com` + slash + `(?:services|workflows|triggers)` + slash +
	`|discord(?:app)?\.com` + slash + `api` + slash + `(?:v[0-9]+` + slash + `)?webhooks` + slash +
	`|\.webhook\.office\.com` + slash + `webhookb2` + slash +
	`|api\.telegram\.org` + slash + `bot` +
	`)(?:\[hidden\]|` + slash + `|[A-Za-z0-9_.~:=@%\-])+`)

// slash matches a slash, also as JSON escapes it, or the beginning of a query.
const slash = `(?:\\*/|%2F)`

func hidePaths(text string) string { return secretPath.ReplaceAllString(text, "${1}"+Hidden) }

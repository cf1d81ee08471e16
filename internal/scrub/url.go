package scrub

import (
	"regexp"
	"strings"
)

// A password in a URL reaches from the first colon behind the scheme to the last
// @. One that was not encoded may contain what should end it; between quotes, as
// errors show a URL that cannot be read, even a space.
var (
	quotedURL = regexp.MustCompile(`("[A-Za-z][A-Za-z0-9+.\-]*://[^\s:/?#@"'<>\[\]]*):([^"\n]*)@`)
	plainURL  = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.\-]*://[^\s:/?#@"'<>\[\]]*):([^\s"'<>]*)@`)
	// keyURL has a key in place of a user, as the DSN of a Sentry project.
	keyURL = regexp.MustCompile(`(?i)(https?://)([^\s/?#@:"'<>]+)@`)
	// badPort is the begin of a password that was read as a port.
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
		return m[0] // the colon is before a port, and the @ somewhere behind it
	}
	return m[1] + ":" + Hidden + "@"
}

// secretPath is an address that lets whoever knows it write: its path is the secret.
var secretPath = regexp.MustCompile(`(?i)(` +
	`hooks\.slack(?:-gov)?\.com` + slash + `(?:services|workflows|triggers)` + slash +
	`|discord(?:app)?\.com` + slash + `api` + slash + `(?:v[0-9]+` + slash + `)?webhooks` + slash +
	`|\.webhook\.office\.com` + slash + `webhookb2` + slash +
	`|api\.telegram\.org` + slash + `bot` +
	`)(?:\[hidden\]|` + slash + `|[A-Za-z0-9_.~:=@%\-])+`)

// slash is one as JSON may escape it, or a query.
const slash = `(?:\\*/|%2F)`

func hidePaths(text string) string { return secretPath.ReplaceAllString(text, "${1}"+Hidden) }

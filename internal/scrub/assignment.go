package scrub

import (
	"regexp"
	"slices"
	"strings"
)

// assignment matches the name of a secret and the assignment after it: a sign, or a space
// for a command-line flag.
var assignment = regexp.MustCompile(`(?i)(--?)?([A-Za-z0-9_.\-]*(?:` +
	`pass[_\- ]?word|passwd|pass[_\- ]?phrase|pass[_\- ]?code|secret|token|api[_\-. ]?key|credential|` +
	`private[_\- ]?key|access[_\- ]?key|signing[_\-]?key|encryption[_\-]?key|master[_\-]?key|session[_\-]?id|` +
	`connection[_\- ]?string|authorization|cookie|bearer|\bdsn|dsn\b|pwd\b|\bjwt|(?:\b|_)pass\b` +
	`)[A-Za-z0-9_.\-]*)(\\*["'` + "`" + `]?[ \t]*(?::=|=>|=|:)[ \t]*|[ \t]+)`)

// hideAssigned hides the value after each name.
func hideAssigned(text string) string {
	var b strings.Builder
	rest := text
	for {
		at := assignment.FindStringSubmatchIndex(rest)
		if at == nil {
			b.WriteString(rest)
			return b.String()
		}
		flag, name, sign := at[2] >= 0, rest[at[4]:at[5]], rest[at[6]:at[7]]
		b.WriteString(rest[:at[1]])
		rest = rest[at[1]:]
		if strings.TrimSpace(sign) == "" && !flag {
			continue
		}
		shown, value, after := valueAtStart(rest)
		if !isNotSecret(name, sign, value) {
			value = Hidden
		}
		b.WriteString(shown + value)
		rest = after
	}
}

// isNotSecret reports whether what follows a name is not its value.
func isNotSecret(name, sign, value string) bool {
	switch {
	case value == "":
		return true
	case strings.Contains(sign, ":") && prose(value):
		return true
	case strings.EqualFold(name, "pass") && strings.TrimSpace(sign) == ":": // a verdict: PASS: TestX
		return true
	case sign == ":" && sourceFile(name) && value[0] >= '0' && value[0] <= '9': // a position in a source file
		return true
	case strings.Trim(value, "0123456789") == "" && counts(name):
		return true
	case strings.TrimSpace(sign) == "": // a command-line flag
		return strings.HasPrefix(value, "-") || passwordSource(value)
	}
	return false
}

// passwordSource matches the argument of -pass of openssl, which begins with the place of the password.
var passwordSource = regexp.MustCompile(`^(?:pass|file|env|fd):|^stdin$`).MatchString

var sourceFile = regexp.MustCompile(`\.(?:go|py|js|jsx|ts|tsx|rb|rs|java|kt|php|cs|c|cc|cpp|h|ex|exs|sql|sh)$`).MatchString

// hideHeaders hides the values of header lines with credentials, to the end of the line.
func hideHeaders(text string) string {
	return replace(header, text, func(m []string) string {
		first, _, _ := strings.Cut(m[4], " ")
		if prose(first) {
			return m[0]
		}
		return m[1] + m[2] + m[3] + Hidden
	})
}

var header = regexp.MustCompile(`(?i)((?:proxy-)?authorization|(?:set-)?cookie)(\\*["']?[ \t]*[:=][ \t]*)((?:\[?\\*["'])?)([^\r\n"'\\]+)`)

// valueAtStart splits a text that begins with a value: the quote before it, the
// value, and the rest.
func valueAtStart(text string) (shown, value, after string) {
	if after, is := strings.CutPrefix(text, Hidden); is {
		return "", Hidden, after
	}
	quoted := strings.TrimLeft(text, `\[`)
	if quoted != "" && strings.ContainsAny(quoted[:1], "\"'`") {
		start := len(text) - len(quoted) + 1
		end := closing(text[start:], text[:start])
		return text[:start], text[start : start+end], text[start+end:]
	}
	scheme := len(schemes.FindString(text))
	end := scheme + plainEnd(text[scheme:])
	return "", text[:end], text[end:]
}

// schemes are the authentication schemes that may precede a value: token: Bearer ….
var schemes = regexp.MustCompile(`^(?i:(?:bearer|basic|digest|negotiate|token|api-?key)[ \t]+)+`)

// closing finds the end of a quoted value, or of the text if the quote is not closed, as
// in a truncated text. The closing quote is escaped as often as the opening one.
func closing(text, opening string) int {
	quote := opening[len(opening)-1]
	escapes := strings.Count(opening, `\`)
	run := 0
	for i := range len(text) {
		switch {
		case text[i] == quote && run <= escapes:
			return i - run
		case text[i] == '\\':
			run++
		default:
			run = 0
		}
	}
	return len(text)
}

// plainEnd is where a value without quotes ends. A comma or a semicolon may be
// part of it; it ends the value if another name seems to follow.
func plainEnd(text string) int {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case strings.HasPrefix(text[i:], Hidden): // a part was hidden before
			i += len(Hidden) - 1
		case c <= ' ', strings.IndexByte("\"'`&)}]<>|", c) >= 0:
			return i
		case (c == ',' || c == ';') && nextBegins(text[i+1:]):
			return i
		}
	}
	return len(text)
}

var nextBegins = regexp.MustCompile(`^(?:[\s"'})\]]|$|[A-Za-z_][A-Za-z0-9_.\- ]*[=:])`).MatchString

// prose reports whether a word continues the sentence of an error: in "the token is
// missing", "is" is not the token.
func prose(word string) bool {
	return slices.Contains(proseWords, strings.ToLower(strings.TrimRight(word, ".,;:!")))
}

var proseWords = strings.Fields(`a an and any are as at be been bad but by can cannot could denied did disabled does
	empty exceeded expected expired failed field for format from had has have if in incorrect invalid is it length
	malformed may mismatch missing must need needs no none not null of on only or out parse rejected required revoked should
	string the this to too unable unauthorized unexpected unknown unsupported value was were will with without wrong you your`)

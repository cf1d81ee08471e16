package node

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/report"
)

// unset is the word for an optional value that is not set.
const unset = "none"

// formatOptional shows an optional text.
func formatOptional(text string) string {
	if text == "" {
		return unset
	}
	return text
}

// parseOptional reads an optional text; it is empty if the word is unset.
func parseOptional(text string) string {
	text = strings.TrimSpace(text)
	if text == unset {
		return ""
	}
	return text
}

type textKind struct{ to *string }

func (k textKind) noun() string          { return "TEXT" }
func (k textKind) Set(text string) error { *k.to = parseOptional(text); return k.check() }
func (k textKind) String() string        { return formatOptional(*k.to) }

func (k textKind) check() error {
	if strings.ContainsFunc(*k.to, func(r rune) bool { return r < ' ' || r > '~' }) || len(*k.to) > 64 {
		return fmt.Errorf("%s is not a word of at most 64 visible ASCII characters", quoted(*k.to))
	}
	return nil
}

// fileKind is the path of an optional file.
type fileKind struct{ to *string }

func (k fileKind) noun() string          { return "FILE" }
func (k fileKind) Set(text string) error { *k.to = parseOptional(text); return k.check() }
func (k fileKind) String() string        { return formatOptional(*k.to) }

func (k fileKind) check() error {
	if strings.ContainsRune(*k.to, 0) {
		return fmt.Errorf("%s contains a NUL character", quoted(*k.to))
	}
	return nil
}

// allowKind is the list of private addresses that requests may use.
type allowKind struct{ to *string }

func (k allowKind) noun() string          { return "LIST" }
func (k allowKind) Set(text string) error { *k.to = parseOptional(text); return k.check() }
func (k allowKind) String() string        { return formatOptional(*k.to) }

func (k allowKind) check() error {
	_, err := action.ParseAllow(*k.to)
	return err
}

// dsnKind is a Sentry DSN. It contains a key, so it is never shown.
type dsnKind struct{ to *string }

func (k dsnKind) noun() string          { return "DSN" }
func (k dsnKind) Set(text string) error { *k.to = parseOptional(text); return k.check() }

func (k dsnKind) String() string {
	if *k.to == "" {
		return unset
	}
	return "…"
}

func (k dsnKind) check() error {
	if *k.to == "" {
		return nil
	}
	var refusal *rota.Error
	if errors.As(report.CheckDSN(*k.to), &refusal) {
		return errors.New("it " + refusal.Reason) // without the DSN, which contains a key
	}
	return nil
}

// urlKind is the HTTP URL of another service.
type urlKind struct{ to *string }

func (k urlKind) noun() string          { return "URL" }
func (k urlKind) Set(text string) error { *k.to = parseOptional(text); return k.check() }
func (k urlKind) String() string        { return formatOptional(*k.to) }

func (k urlKind) check() error {
	if *k.to == "" {
		return nil
	}
	u, err := url.Parse(*k.to)
	switch fine := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""; {
	case strings.Contains(*k.to, "@") && (!fine || u.User != nil): // it may contain a password, so the message does not quote it
		return errors.New("the URL is not an http or https URL without a user and a password")
	case !fine:
		return fmt.Errorf("%s is not an http or https URL", quoted(*k.to))
	}
	return nil
}

// headersKind is a list of NAME=VALUE pairs. The values may be keys, so they are
// never shown.
type headersKind struct{ to *string }

func (k headersKind) noun() string          { return "LIST" }
func (k headersKind) Set(text string) error { *k.to = parseOptional(text); return k.check() }

func (k headersKind) String() string {
	if *k.to == "" {
		return unset
	}
	return "…"
}

func (k headersKind) check() error {
	_, err := parseHeaders(*k.to)
	return err
}

func parseHeaders(text string) (map[string]string, error) {
	headers := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		if !found || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || r == ':' }) {
			return nil, errors.New("an entry of the list is not NAME=VALUE")
		}
		value = strings.TrimSpace(value)
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return nil, fmt.Errorf("the value of %s has a line break or another control character", name)
		}
		headers[name] = value
	}
	return headers, nil
}

type fractionKind struct{ to *float64 }

func (k fractionKind) noun() string { return "FRACTION" }

func (k fractionKind) Set(text string) error {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("%s is not a number", quoted(text))
	}
	*k.to = f
	return k.check()
}

func (k fractionKind) String() string { return strconv.FormatFloat(*k.to, 'g', -1, 64) }

func (k fractionKind) check() error {
	if !(*k.to > 0 && *k.to <= 1) {
		return fmt.Errorf("%s is out of range", k.String())
	}
	return nil
}

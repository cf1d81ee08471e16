package node

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/report"
)

// textKind is the kind of a required text.
func textKind(to *string, name string, valid func(string) error) kind {
	same := func(text string) string { return text }
	return kindOf[string]{to, name, func(text string) (string, error) { return text, nil }, same, valid}
}

// unset is the word for an optional value that is not set.
const unset = "none"

// optionalKind is the kind of a text that may be missing.
func optionalKind(to *string, name string, valid func(string) error) kind {
	return optionalAs(to, name, valid, func(text string) string { return text })
}

// secretKind is the kind of an optional text that is never shown.
func secretKind(to *string, name string, valid func(string) error) kind {
	return optionalAs(to, name, valid, func(string) string { return "…" })
}

func optionalAs(to *string, name string, valid func(string) error, show func(string) string) kind {
	return kindOf[string]{to, name, func(text string) (string, error) {
		if text = strings.TrimSpace(text); text == unset {
			text = ""
		}
		return text, nil
	}, func(text string) string {
		if text == "" {
			return unset
		}
		return show(text)
	}, func(text string) error {
		if text == "" {
			return nil
		}
		return valid(text)
	}}
}

// wordKind is the kind of a text that is one of a few words.
func wordKind(to *string, words ...string) kind {
	return textKind(to, strings.Join(words, "|"), func(text string) error {
		if slices.Contains(words, text) {
			return nil
		}
		return fmt.Errorf("unknown value %s", quoted(text))
	})
}

func checkPath(path string) error {
	if strings.TrimSpace(path) == "" {
		return errors.New("the value is empty")
	}
	return checkFile(path)
}

func checkFile(path string) error {
	if strings.ContainsRune(path, 0) {
		return fmt.Errorf("%s contains a NUL character", quoted(path))
	}
	return nil
}

// checkName validates a name as the first command that contains it does.
func checkName(name string) error {
	err := (&rota.Recover{Meta: rota.NewMeta(""), Runner: name, Incarnation: rota.NewID()}).Validate()
	var refusal *rota.Error
	if errors.As(err, &refusal) {
		return errors.New(refusal.Reason)
	}
	return err
}

func checkWord(text string) error {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) || len(text) > 64 {
		return fmt.Errorf("%s is not a word of at most 64 visible ASCII characters", quoted(text))
	}
	return nil
}

func checkAddress(text string) error {
	if text == "" {
		return errors.New("the value is empty")
	}
	if strings.Contains(text, "://") {
		return fmt.Errorf("%s is a URL, not an address", quoted(text))
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return fmt.Errorf("%s is not an address: %w", quoted(text), withoutAddress(err))
	}
	if strings.ContainsFunc(host, invalidHostRune) {
		return fmt.Errorf("%s is not a host name or IP address", quoted(host))
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%s is not a port from 0 to 65535", quoted(port))
	}
	return nil
}

// checkPort checks the address of an optional port; none: closed.
func checkPort(address string) error {
	if address == noPort {
		return nil
	}
	return checkAddress(address)
}

// invalidHostRune reports characters that occur in no host name or IP address.
func invalidHostRune(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_:%", r))
}

// withoutAddress is an error of package net without the address, which the message already
// names.
func withoutAddress(err error) error {
	var address *net.AddrError
	if errors.As(err, &address) {
		return errors.New(address.Err)
	}
	return err
}

// checkAllow checks the list of private addresses that requests may use.
func checkAllow(list string) error {
	_, err := action.ParseAllow(list)
	return err
}

// checkAuditKeys checks a list of public keys.
func checkAuditKeys(list string) error { return eachAuditKey(list, func(rota.AuditKey) {}) }

// eachAuditKey calls use with the keys of a list.
func eachAuditKey(list string, use func(rota.AuditKey)) error {
	for _, text := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		var key rota.AuditKey
		if err := key.UnmarshalText([]byte(strings.ToLower(text))); err != nil {
			return fmt.Errorf("%q is not a public key of 64 hexadecimal digits", text)
		}
		use(key)
	}
	return nil
}

// checkHosts checks a list of host names.
func checkHosts(list string) error {
	_, err := cleanHosts(splitHosts(list))
	return err
}

// parseHosts returns the names of a list that checkHosts has checked.
func parseHosts(list string) []string {
	names, _ := cleanHosts(splitHosts(list))
	return names
}

func splitHosts(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// cleanHosts checks host names, and returns them without spaces and without the dot at the end.
func cleanHosts(names []string) (clean []string, err error) {
	for _, name := range names {
		name = strings.TrimSuffix(strings.TrimSpace(name), ".")
		if _, err := netip.ParseAddr(name); err != nil && (name == "" || strings.ContainsFunc(name, invalidHostRune) || strings.ContainsRune(name, ':')) {
			return nil, fmt.Errorf("%s is not a host name or IP address without a port", quoted(name))
		}
		clean = append(clean, name)
	}
	return clean, nil
}

// checkDSN checks a Sentry DSN. Its errors do not contain the DSN, which contains a key.
func checkDSN(dsn string) error {
	var refusal *rota.Error
	if errors.As(report.CheckDSN(dsn), &refusal) {
		return errors.New("it " + refusal.Reason)
	}
	return nil
}

// checkURL checks the HTTP URL of another service.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch fine := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""; {
	case strings.Contains(text, "@") && (!fine || u.User != nil): // it may contain a password, so the message does not quote it
		return errors.New("the URL is not an http or https URL without a user and a password")
	case !fine:
		return fmt.Errorf("%s is not an http or https URL", quoted(text))
	}
	return nil
}

// checkHeaders checks a list of NAME=VALUE pairs.
func checkHeaders(list string) error {
	_, err := parseHeaders(list)
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

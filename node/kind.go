package node

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// kind parses and shows one field of a Config. Its errors state only the reason; the
// caller adds where the text was written and what is allowed.
type kind interface {
	Set(text string) error
	String() string
	check() error
	noun() string // placeholder for the value in the help of a flag
}

type pathKind struct{ to *string }

func (k pathKind) noun() string { return "DIR" }

func (k pathKind) Set(text string) error { *k.to = text; return k.check() }
func (k pathKind) String() string        { return *k.to }

func (k pathKind) check() error {
	if strings.TrimSpace(*k.to) == "" {
		return errors.New("the value is empty")
	}
	if strings.ContainsRune(*k.to, 0) {
		return fmt.Errorf("%s contains a NUL character", quoted(*k.to))
	}
	return nil
}

type nameKind struct{ to *string }

func (k nameKind) noun() string { return "NAME" }

func (k nameKind) Set(text string) error { *k.to = text; return k.check() }
func (k nameKind) String() string        { return *k.to }

// check validates the name as the first command that contains it does.
func (k nameKind) check() error {
	err := (&rota.Recover{Meta: rota.NewMeta(""), Runner: *k.to, Incarnation: rota.NewID()}).Validate()
	var refusal *rota.Error
	if errors.As(err, &refusal) {
		return errors.New(refusal.Reason)
	}
	return err
}

type wordKind struct {
	to    *string
	words []string
}

func (k wordKind) noun() string { return strings.Join(k.words, "|") }

func (k wordKind) Set(text string) error { *k.to = text; return k.check() }
func (k wordKind) String() string        { return *k.to }

func (k wordKind) check() error {
	if slices.Contains(k.words, *k.to) {
		return nil
	}
	return fmt.Errorf("unknown value %s", quoted(*k.to))
}

type levelKind struct{ to *slog.Level }

func (k levelKind) noun() string { return "LEVEL" }

var levels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

func (k levelKind) Set(text string) error {
	level, known := levels[strings.ToLower(text)]
	if !known {
		return fmt.Errorf("unknown value %s", quoted(text))
	}
	*k.to = level
	return nil
}

func (k levelKind) String() string { return strings.ToLower(k.to.String()) }
func (k levelKind) check() error   { return nil }

type wholeKind struct {
	to        *int
	low, high int
}

func (k wholeKind) noun() string { return "N" }

func (k wholeKind) Set(text string) error {
	n, err := strconv.Atoi(text)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%s is out of range", quoted(text))
	case err != nil:
		return fmt.Errorf("%s is not a whole number", quoted(text))
	}
	*k.to = n
	return k.check()
}

func (k wholeKind) String() string { return strconv.Itoa(*k.to) }

func (k wholeKind) check() error {
	if *k.to < k.low || *k.to > k.high {
		return fmt.Errorf("%d is out of range", *k.to)
	}
	return nil
}

type durationKind struct {
	to        *time.Duration
	low, high time.Duration
}

func (k durationKind) noun() string { return "DURATION" }

func (k durationKind) Set(text string) error {
	d, err := parseDuration(text)
	if err != nil {
		return err
	}
	*k.to = d
	return k.check()
}

func (k durationKind) String() string { return formatDuration(*k.to) }

func (k durationKind) check() error {
	if *k.to < k.low || *k.to > k.high {
		return fmt.Errorf("%s is out of range", formatDuration(*k.to))
	}
	return nil
}

type rateKind struct{ to *rota.Rate }

func (k rateKind) noun() string { return "RATE" }

// noRate is the word for no rate limit.
const noRate = "none"

func (k rateKind) Set(text string) error {
	if text == noRate {
		*k.to = rota.Rate{}
		return nil
	}
	count, per, found := strings.Cut(text, "/")
	if !found {
		return fmt.Errorf("%s is not a rate", quoted(text))
	}
	if err := (wholeKind{&k.to.Count, 1, rateMax}).Set(strings.TrimSpace(count)); err != nil {
		return fmt.Errorf("the count: %w", err)
	}
	if err := (durationKind{&k.to.Per, rota.RatePerMin, ratePeriods}).Set(strings.TrimSpace(per)); err != nil {
		return fmt.Errorf("the time: %w", err)
	}
	return nil
}

func (k rateKind) String() string {
	if *k.to == (rota.Rate{}) {
		return noRate
	}
	return fmt.Sprintf("%d/%s", k.to.Count, formatDuration(k.to.Per))
}

func (k rateKind) check() error {
	if *k.to == (rota.Rate{}) {
		return nil
	}
	if k.to.Count < 1 || k.to.Count > rateMax || k.to.Per < rota.RatePerMin || k.to.Per > ratePeriods {
		return fmt.Errorf("%d/%s is out of range", k.to.Count, k.to.Per)
	}
	return nil
}

type addressKind struct{ to *string }

func (k addressKind) noun() string { return "ADDR" }

func (k addressKind) Set(text string) error { *k.to = text; return k.check() }
func (k addressKind) String() string        { return *k.to }

func (k addressKind) check() error {
	text := *k.to
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

// portKind is the address of an optional port; none: closed.
type portKind struct{ addressKind }

func (k portKind) Set(text string) error { *k.to = text; return k.check() }

func (k portKind) check() error {
	if *k.to == noPort {
		return nil
	}
	return k.addressKind.check()
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

// quoted quotes the text of a value and shortens a long one.
func quoted(text string) string {
	const shown = 64
	if len(text) > shown {
		return strconv.Quote(strings.ToValidUTF8(text[:shown], "")) + "…"
	}
	return strconv.Quote(text)
}

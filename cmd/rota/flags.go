package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// valueFlag is a flag whose value is parsed.
type valueFlag[T any] struct {
	value  *T
	name   string // name of the value in help
	parse  func(text string) (T, error)
	format func(T) string
}

func (f valueFlag[T]) String() string {
	if f.value == nil { // pflag calls String on a zero value to recognize defaults
		return ""
	}
	return f.format(*f.value)
}

// Type is the name of the value in help.
func (f valueFlag[T]) Type() string { return f.name }

// Set parses the flag.
func (f valueFlag[T]) Set(text string) error {
	value, err := f.parse(text)
	if err == nil {
		*f.value = value
	}
	return err
}

// numberFlag is a flag for a whole number within bounds.
func numberFlag(value *int, low, high int) pflag.Value {
	return valueFlag[int]{value, "N", func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < low || n > high {
			return 0, fmt.Errorf("use a whole number from %d to %d", low, high)
		}
		return n, nil
	}, strconv.Itoa}
}

// addNumberFlag adds a flag for a whole number within bounds.
func addNumberFlag(cmd *cobra.Command, value *int, name string, initial, low, high int, usage string) {
	*value = initial
	cmd.Flags().Var(numberFlag(value, low, high), name, usage)
}

// durationFlag is a flag for a duration, such as 90s or 2d.
func durationFlag(value *time.Duration) pflag.Value {
	return valueFlag[time.Duration]{value, "DURATION", func(text string) (time.Duration, error) {
		d, err := rota.ParseDuration(text)
		var refusal *rota.Error
		switch {
		case errors.As(err, &refusal):
			return 0, errors.New(refusal.Reason)
		case err == nil && d < 0:
			return 0, errors.New("the duration is negative; use 0s or more")
		}
		return d, err
	}, rota.FormatDuration}
}

// textFlag is a flag for a text whose value has a name in help.
func textFlag(value *string, name string) pflag.Value {
	same := func(text string) string { return text }
	return valueFlag[string]{value, name, func(text string) (string, error) { return text, nil }, same}
}

// filterValue is the value of a flag that selects what a command lists or changes. It refuses the empty text, which a script
// passes if a variable is not set: the command would act on everything.
type filterValue struct{ pflag.Value }

// Set parses the flag.
func (f filterValue) Set(text string) error {
	if text == "" {
		return errors.New("the value is empty; write a value, or remove the flag")
	}
	return f.Value.Set(text)
}

// String is the empty text for a list without values, so that help prints no default.
func (f filterValue) String() string {
	if f.Value == nil || f.Value.String() == "[]" {
		return ""
	}
	return f.Value.String()
}

// refuseEmpty makes the empty text an error for flags of a command.
func refuseEmpty(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		f := cmd.Flags().Lookup(name)
		f.Value = filterValue{f.Value}
		f.DefValue = f.Value.String()
	}
}

// bodyFlags holds the flags that become fields of a request's body. A flag that is not given sets no field, so that the
// server keeps the value or applies its default.
type bodyFlags struct {
	cmd    *cobra.Command
	fields []bodyFlag
	zone   string // time zone of times without an offset
}

// bodyFlag is one flag: the field that it sets and the parser of its text.
type bodyFlag struct {
	flag, field string
	text        *string
	read        func(s *bodyFlags, flag, text string) (any, error)
}

func newBodyFlags(cmd *cobra.Command) *bodyFlags { return &bodyFlags{cmd: cmd} }

// add adds a flag that sets a field. noun is the name of the value in help; words are offered for completion.
func (s *bodyFlags) add(flag, field, noun, usage string, read func(s *bodyFlags, flag, text string) (any, error), words ...string) {
	text := ""
	s.cmd.Flags().Var(textFlag(&text, noun), flag, usage)
	if words != nil {
		completeFrom(s.cmd, flag, words)
	}
	s.fields = append(s.fields, bodyFlag{flag, field, &text, read})
}

// fill writes the flags that were given into a body.
func (s *bodyFlags) fill(body map[string]any) error {
	for _, f := range s.fields {
		if !s.cmd.Flags().Changed(f.flag) {
			continue
		}
		value, err := f.read(s, "--"+f.flag, *f.text)
		if err != nil {
			return err
		}
		body[f.field] = value
	}
	return nil
}

// The parsers of flags.

func asText(_ *bodyFlags, _, text string) (any, error) { return text, nil }

func asDuration(_ *bodyFlags, flag, text string) (any, error) {
	d, err := rota.ParseDuration(text)
	var refusal *rota.Error
	if errors.As(err, &refusal) {
		refusal.Field = flag // the name that the user typed
	}
	if err != nil {
		return nil, err
	}
	return rota.FormatDuration(d), nil
}

func asInt(_ *bodyFlags, flag, text string) (any, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, usagef("write a whole number, such as 10", "%s %s is not a whole number", flag, shortened(strconv.Quote(text)))
	}
	return n, nil
}

func asFraction(_ *bodyFlags, flag, text string) (any, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, usagef("write a number from 0 to 1, such as 0.2", "%s %s is not a number", flag, shortened(strconv.Quote(text)))
	}
	return f, nil
}

func asTime(s *bodyFlags, flag, text string) (any, error) {
	at, err := parseTimeFlag(flag, text, s.zone)
	if err != nil {
		return nil, err
	}
	return at.UTC().Format("2006-01-02T15:04:05.999999999Z07:00"), nil
}

// zoneFlag adds --tz, the time zone of times without an offset.
func (s *bodyFlags) zoneFlag() { zoneFlag(s.cmd, &s.zone) }

func zoneFlag(cmd *cobra.Command, zone *string) {
	cmd.Flags().StringVar(zone, "tz", "", "IANA time `ZONE` of times without an offset (default: the zone of this machine)")
}

// durationText formats a duration from the server; nil is the empty text.
func durationText(d *api.Duration) string {
	if d == nil {
		return ""
	}
	return rota.FormatDuration(time.Duration(*d))
}

// policy adds the flags for priority, retries and timeout.
func (s *bodyFlags) policy() {
	s.add("priority", "priority", "N", "priority; jobs with a higher N start first", asInt)
	s.failure()
}

// failure adds the flags of policy without the priority, which a type does not have.
func (s *bodyFlags) failure() {
	s.add("retries", "max_retries", "N", "retry a failed job up to N times", asInt)
	s.add("backoff", "backoff", "DURATION", "pause before the first retry; it doubles with each retry", asDuration)
	s.add("backoff-max", "backoff_max", "DURATION", "longest pause before a retry", asDuration)
	s.add("jitter", "jitter", "FRACTION", "shorten each pause by a random part of up to FRACTION, from 0 to 1", asFraction)
	s.add("timeout", "timeout", "DURATION", "stop and fail a run that takes longer", asDuration)
}

package main

import (
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

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
	s.cmd.Flags().Var(textFlag{&text, noun}, flag, usage)
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
	s.add("timeout", "timeout", "DURATION", "cancel a run that takes longer", asDuration)
}

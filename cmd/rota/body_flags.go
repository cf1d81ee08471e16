package main

import (
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/cron"
	"github.com/rotajobs/rota/httpapi"
)

// bodyFlags is flags that become fields of a request's body, only if they were given: what is not said stays as it is,
// or as the server has it.
type bodyFlags struct {
	cmd    *cobra.Command
	fields []bodyFlag
	zone   string // of times without an offset
}

// bodyFlag is one flag: the field it becomes and how its text is read.
type bodyFlag struct {
	flag, field string
	text        *string
	read        func(s *bodyFlags, flag, text string) (any, error)
}

func newBodyFlags(cmd *cobra.Command) *bodyFlags { return &bodyFlags{cmd: cmd} }

func (s *bodyFlags) add(flag, field, usage string, read func(s *bodyFlags, flag, text string) (any, error), words ...string) {
	text := ""
	s.cmd.Flags().StringVar(&text, flag, "", usage)
	completeFrom(s.cmd, flag, words)
	s.fields = append(s.fields, bodyFlag{flag, field, &text, read})
}

// fill puts what was given into a body.
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

// The ways to read a flag.

func asText(_ *bodyFlags, _, text string) (any, error) { return text, nil }

func asDuration(_ *bodyFlags, flag, text string) (any, error) {
	d, err := rota.ParseDuration(text)
	var refusal *rota.Error
	if errors.As(err, &refusal) {
		refusal.Field = flag // the name by which the reader knows it
	}
	if err != nil {
		return nil, err
	}
	return rota.FormatDuration(d), nil
}

func asInt(_ *bodyFlags, flag, text string) (any, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, usagef("write digits", "%s %s is not a whole number", flag, shortened(strconv.Quote(text)))
	}
	return n, nil
}

func asFraction(_ *bodyFlags, flag, text string) (any, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, usagef("write a fraction between 0 and 1", "%s %s is not a number", flag, shortened(strconv.Quote(text)))
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

// zoneFlag adds the zone of times without an offset.
func (s *bodyFlags) zoneFlag() { zoneFlag(s.cmd, &s.zone) }

func zoneFlag(cmd *cobra.Command, zone *string) {
	cmd.Flags().StringVar(zone, "tz", "", "IANA `ZONE` of times without an offset (default this machine's)")
	completeZones(cmd)
}

// completeZones reads the list of zones only when a shell asks for it.
func completeZones(cmd *cobra.Command) {
	complete := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return cron.ZoneNames(), cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc("tz", complete); err != nil {
		panic(err) // the flag was not declared, or twice: a mistake in this program
	}
}

// durationText writes a duration of the server's, nothing for none.
func durationText(d *httpapi.Duration) string {
	if d == nil {
		return ""
	}
	return rota.FormatDuration(time.Duration(*d))
}

// policy adds the flags that say how failure and time are treated.
func (s *bodyFlags) policy() {
	s.add("priority", "priority", "`N`: higher ones go first", asInt)
	s.failure()
}

// failure is policy without the priority, which a type does not have.
func (s *bodyFlags) failure() {
	s.add("retries", "max_retries", "try again `N` times after a failure", asInt)
	s.add("backoff", "backoff", "wait `DURATION` before the first retry; it doubles with each", asDuration)
	s.add("backoff-max", "backoff_max", "wait no longer than `DURATION`", asDuration)
	s.add("jitter", "jitter", "take up to this `FRACTION` of each wait off, by chance", asFraction)
	s.add("timeout", "timeout", "stop a run after `DURATION`", asDuration)
}

package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
)

// numberFlag is a flag for a whole number within bounds.
type numberFlag struct {
	value    *int
	min, max int
}

func (n numberFlag) String() string {
	if n.value == nil { // pflag calls String on a zero value to recognize defaults
		return "0"
	}
	return strconv.Itoa(*n.value)
}

// Type is the name of the value in help.
func (n numberFlag) Type() string { return "N" }

// Set parses the flag.
func (n numberFlag) Set(text string) error {
	value, err := strconv.Atoi(text)
	if err != nil || value < n.min || value > n.max {
		return fmt.Errorf("use a whole number from %d to %d", n.min, n.max)
	}
	*n.value = value
	return nil
}

// addNumberFlag adds a flag for a whole number within bounds.
func addNumberFlag(cmd *cobra.Command, value *int, name string, initial, low, high int, usage string) {
	*value = initial
	cmd.Flags().Var(numberFlag{value, low, high}, name, usage)
}

// durationFlag is a flag for a duration, such as 90s or 2d.
type durationFlag struct{ value *time.Duration }

func (s durationFlag) String() string {
	if s.value == nil { // pflag calls String on a zero value to recognize defaults
		return "0s"
	}
	return rota.FormatDuration(*s.value)
}

// Type is the name of the value in help.
func (s durationFlag) Type() string { return "DURATION" }

// Set parses the flag.
func (s durationFlag) Set(text string) error {
	value, err := rota.ParseDuration(text)
	var refusal *rota.Error
	switch {
	case errors.As(err, &refusal):
		return errors.New(refusal.Reason)
	case err != nil:
		return err
	case value < 0:
		return errors.New("the duration is negative; use 0s or more")
	}
	*s.value = value
	return nil
}

// textFlag is a flag for a text whose value has a name in help.
type textFlag struct {
	value *string
	name  string
}

func (f textFlag) String() string {
	if f.value == nil { // pflag calls String on a zero value to recognize defaults
		return ""
	}
	return *f.value
}

// Type is the name of the value in help.
func (f textFlag) Type() string { return f.name }

// Set stores the text.
func (f textFlag) Set(text string) error {
	*f.value = text
	return nil
}

package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
)

// numberFlag is a whole number that knows its bounds.
type numberFlag struct {
	value    *int
	min, max int
}

func (n numberFlag) String() string {
	if n.value == nil { // as help asks, to see whether a default is worth telling
		return "0"
	}
	return strconv.Itoa(*n.value)
}

// Type is what the value is called where its usage does not say.
func (n numberFlag) Type() string { return "N" }

// Set reads the flag.
func (n numberFlag) Set(text string) error {
	value, err := strconv.Atoi(text)
	if err != nil || value < n.min || value > n.max {
		return fmt.Errorf("allowed %d-%d", n.min, n.max)
	}
	*n.value = value
	return nil
}

// addNumberFlag adds a flag that takes a whole number within bounds.
func addNumberFlag(cmd *cobra.Command, value *int, name string, initial, low, high int, usage string) {
	*value = initial
	cmd.Flags().Var(numberFlag{value, low, high}, name, usage)
	completeFrom(cmd, name, nil)
}

// durationFlag is a duration as people write one.
type durationFlag struct{ value *time.Duration }

func (s durationFlag) String() string {
	if s.value == nil { // as help asks, to see whether a default is worth telling
		return "0s"
	}
	return rota.FormatDuration(*s.value)
}

// Type is what the value is called where its usage does not say.
func (s durationFlag) Type() string { return "DURATION" }

// Set reads the flag.
func (s durationFlag) Set(text string) error {
	value, err := rota.ParseDuration(text)
	var refusal *rota.Error
	switch {
	case errors.As(err, &refusal):
		return errors.New(refusal.Reason)
	case err != nil:
		return err
	case value < 0:
		return errors.New("it is negative")
	}
	*s.value = value
	return nil
}

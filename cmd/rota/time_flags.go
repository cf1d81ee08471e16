package main

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/cron"
)

// timeFlags holds --since and --until of a list.
type timeFlags struct{ since, until string }

// flags adds the flags; noun names the items of the list.
func (f *timeFlags) flags(cmd *cobra.Command, noun string) {
	cmd.Flags().StringVar(&f.since, "since", "", "only "+noun+" at or after `TIME`: today, yesterday, 2026-11-15, or of the last 1h, 7d")
	cmd.Flags().StringVar(&f.until, "until", "", "only "+noun+" before `TIME`, or before the last 1h, 7d")
	refuseEmpty(cmd, "since", "until")
}

// fill writes the times into a query.
func (f *timeFlags) fill(a *app, query url.Values) error {
	for _, one := range []struct{ name, text string }{{"since", f.since}, {"until", f.until}} {
		if one.text == "" {
			continue
		}
		at, err := a.momentFlag("--"+one.name, one.text)
		if err != nil {
			return err
		}
		query.Set(one.name, at.UTC().Format(time.RFC3339Nano))
	}
	return nil
}

// momentFlag parses a time, or a duration that is counted back from now.
func (a *app) momentFlag(flag, text string) (time.Time, error) {
	if d, err := rota.ParseDuration(text); err == nil && d >= 0 {
		return a.now().Add(-d), nil
	}
	if back, known := map[string]int{"today": 0, "yesterday": -1}[strings.ToLower(text)]; known {
		text = a.now().Local().AddDate(0, 0, back).Format(time.DateOnly)
	}
	at, err := parseTimeFlag(flag, text, "")
	var refusal *cron.Error
	if errors.As(err, &refusal) && refusal.Remedy == "" {
		refusal.Remedy = "write today, yesterday, a duration back from now, such as 24h or 7d, or a time, such as 2026-11-15 or 2026-11-15T07:00:00Z"
	}
	return at, err
}

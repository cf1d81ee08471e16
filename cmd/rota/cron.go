package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/cron"
)

const (
	cronCountDefault = 10
	cronCountMax     = 1000

	// cronArgsMax is five fields forgotten to be quoted, and up to two that the parser can say something about.
	cronArgsMax = 7
)

const cronExample = `  rota cron '30 9 * * 1-5' --tz Europe/Berlin
  rota cron '30 2 * * *' --tz Europe/Berlin --from 2026-03-27 -n 4    # what happens to 02:30 in spring
  rota cron 'H H(1-4) * * *' --name nightly-backup                    # where H falls for this name
  rota cron @monthly --output json`

// cronOptions are the flags of one call.
type cronOptions struct {
	zone, from, name string
	count            cronCount
}

// cronCount is the value of -n, a flag that knows its bounds.
type cronCount int

func (n *cronCount) String() string { return strconv.Itoa(int(*n)) }
func (n *cronCount) Type() string   { return "N" }

// Set reads the flag.
func (n *cronCount) Set(text string) error {
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 || value > cronCountMax {
		return fmt.Errorf("allowed 1-%d", cronCountMax)
	}
	*n = cronCount(value)
	return nil
}

// cronView is the answer, as JSON and YAML have it.
type cronView struct {
	Describe string     `json:"describe"`
	Times    []cronTime `json:"times"`
}

type cronTime struct {
	At   string `json:"at"`
	Note string `json:"note"`
}

func newCronCommand(a *app) *cobra.Command {
	opts := cronOptions{count: cronCountDefault}
	cmd := &cobra.Command{
		Use:   "cron EXPR",
		Short: "Says a cron expression in words and lists its next times",
		Long: `Says a cron expression in words and lists its next times, with what clock changes do to them.
It needs no server. EXPR has five fields (minute hour day-of-month month day-of-week) or is one of
@hourly @daily @midnight @weekly @monthly @yearly @annually.`,
		Example: cronExample,
		Args:    cronArgs,
		RunE:    func(_ *cobra.Command, args []string) error { return a.cron(strings.Join(args, " "), opts) },
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.zone, "tz", "UTC", "IANA `ZONE` whose clock the fields are read on")
	flags.StringVar(&opts.from, "from", "", "list times after `TIME`: RFC 3339, or YYYY-MM-DD[ HH:MM[:SS]] in the zone (default now)")
	flags.VarP(&opts.count, "count", "n", "list `N` times")
	flags.StringVar(&opts.name, "name", "", "schedule `NAME`, by which H spreads")
	return cmd
}

// cronArgs accepts an expression whose quotes were forgotten, unless the shell has put file names in place of a star.
func cronArgs(_ *cobra.Command, args []string) error {
	switch n := len(args); {
	case n == 0:
		return usagef("write one, such as rota cron '30 9 * * 1-5'", "cron needs an expression")
	case n > cronArgsMax:
		return usagef("put the expression in quotes, or the shell replaces * by file names", "cron got %d arguments", n)
	}
	return nil
}

func (a *app) cron(text string, opts cronOptions) error {
	expression, err := a.parseCron(text, opts)
	if err != nil {
		return err
	}
	from, err := a.cronFrom(opts.from, expression.Location())
	if err != nil {
		return err
	}
	fires := cron.Upcoming(expression, from, int(opts.count))
	return a.print(newCronView(expression, fires), func(w io.Writer) error {
		return writeCron(w, expression, from, fires)
	})
}

// parseCron reads the expression. One that spreads by a name which was not
// given is shown under its own text, so that it can be looked at all the same.
func (a *app) parseCron(text string, opts cronOptions) (cron.Cron, error) {
	expression, err := cron.Parse(text, cron.Config{Zone: opts.zone, Name: opts.name})
	if err == nil || opts.name != "" {
		return expression, err
	}
	spread, secondErr := cron.Parse(text, cron.Config{Zone: opts.zone, Name: text})
	if secondErr != nil {
		return expression, err
	}
	_, err = fmt.Fprintln(a.err, "rota: H spreads by the schedule's name; without --name NAME these times are an example")
	return spread, err
}

func (a *app) cronFrom(text string, loc *time.Location) (time.Time, error) {
	if text == "" {
		return a.now(), nil
	}
	from, err := cron.ParseTime(text, loc)
	var refusal *cron.Error
	if errors.As(err, &refusal) {
		refusal.Field = "--from" // the name by which the reader knows it
	}
	return from, err
}

func newCronView(expression cron.Cron, fires []cron.Fire) cronView {
	view := cronView{Describe: expression.Describe(), Times: []cronTime{}}
	for _, fire := range fires {
		view.Times = append(view.Times, cronTime{At: fire.At.Format(time.RFC3339), Note: fire.Note})
	}
	return view
}

func writeCron(w io.Writer, expression cron.Cron, from time.Time, fires []cron.Fire) error {
	if _, err := fmt.Fprintf(w, "%s\n\n", expression.Describe()); err != nil {
		return err
	}
	var rows [][]string
	for _, fire := range fires {
		rows = append(rows, []string{
			fire.At.Format("Mon"),
			fire.At.Format("2006-01-02 15:04 -07:00"),
			fire.At.UTC().Format("2006-01-02 15:04"),
			distance(fire.At.Unix() - from.Unix()),
			fire.Note,
		})
	}
	return writeTable(w, []string{"DAY", "LOCAL TIME", "UTC", "IN", "NOTE"}, rows)
}

// distance names the two largest units of a number of seconds, which is all that a person wants to know of it.
func distance(seconds int64) string {
	units := []struct {
		size int64
		sign string
	}{{24 * 60 * 60, "d"}, {60 * 60, "h"}, {60, "m"}, {1, "s"}}
	var words []string
	for _, unit := range units {
		if n := seconds / unit.size; n > 0 && len(words) < 2 {
			words = append(words, fmt.Sprintf("%d%s", n, unit.sign))
			seconds -= n * unit.size
		}
	}
	return strings.Join(words, " ")
}

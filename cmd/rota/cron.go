package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/cron"
)

const (
	cronCountDefault = 10
	cronCountMax     = 1000

	// cronArgsMax permits five fields without quotes, and two more so that the parser can report them.
	cronArgsMax = 7
)

// cronOptions holds the flags.
type cronOptions struct {
	zone, from, name string
	fromGiven        bool // --from '' is an error, not the default
	count            int
}

// countFlag adds -n, the number of times to list.
func countFlag(cmd *cobra.Command, count *int) {
	*count = cronCountDefault
	cmd.Flags().VarP(numberFlag(count, 1, cronCountMax), "count", "n", fmt.Sprintf("list `N` times, 1 to %d", cronCountMax))
}

// cronView is the output as JSON and YAML.
type cronView struct {
	Describe string     `json:"describe"`
	Times    []cronTime `json:"times"`
}

type cronTime struct {
	At   string `json:"at"`
	Note string `json:"note"`
}

func newCronCommand(a *app) *cobra.Command {
	var opts cronOptions
	cmd := &cobra.Command{
		Use:     "cron EXPR",
		Short:   "Describe a cron expression and list its next times",
		Long:    cronLong,
		Example: cronExample,
		Args:    cronArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.fromGiven = cmd.Flags().Changed("from")
			if opts.zone == "" {
				return &cron.Error{Field: "--tz", Reason: "is not the name of a time zone", Remedy: "name a zone, such as Europe/Berlin, or remove --tz for UTC"}
			}
			return hintQuotes(a.cron(strings.Join(args, " "), opts), len(args))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.zone, "tz", "UTC", "IANA time `ZONE` of the fields")
	flags.StringVar(&opts.from, "from", "", "list times after `TIME`: RFC 3339, or YYYY-MM-DD[ HH:MM[:SS]] in the zone (default: now)")
	countFlag(cmd, &opts.count)
	flags.StringVar(&opts.name, "name", "", "`NAME` of the schedule, which sets the value of H")
	completeCron(cmd)
	return cmd
}

const quotesHint = "put the expression in quotes, so that the shell does not replace * by file names"

// hintQuotes adds a hint about quotes if the expression was given as several arguments and is invalid: the file names
// that the shell put in place of a star look like a wrong field.
func hintQuotes(err error, args int) error {
	var refusal *cron.Error
	if args < 2 || !errors.As(err, &refusal) || strings.HasPrefix(refusal.Field, "--") || refusal.Field == "zone" {
		return err
	}
	if refusal.Remedy != "" {
		refusal.Remedy += "; "
	}
	refusal.Remedy += quotesHint
	return err
}

// cronArgs accepts an expression without quotes, unless the shell replaced a star by file names.
func cronArgs(_ *cobra.Command, args []string) error {
	switch n := len(args); {
	case n == 0:
		return usagef("write it like rota cron '30 9 * * 1-5'", "cron needs an expression")
	case n > cronArgsMax:
		return usagef(quotesHint, "cron got %d arguments", n)
	}
	return nil
}

func (a *app) cron(text string, opts cronOptions) error {
	expression, err := a.parseCron(text, opts)
	if err != nil {
		return err
	}
	from, err := a.cronFrom(opts, expression.Location())
	if err != nil {
		return err
	}
	fires := cron.Upcoming(expression, from, opts.count)
	return a.print(newCronView(expression, fires), func(w io.Writer) { a.writeCron(w, expression, from, fires, opts.count) })
}

// parseCron parses the expression. An expression with H needs the name of the schedule; without one its own text is the
// name, so that the command shows an example.
func (a *app) parseCron(text string, opts cronOptions) (cron.Cron, error) {
	expression, err := cron.Parse(text, cron.Config{Zone: opts.zone, Name: opts.name})
	if err == nil || opts.name != "" {
		return expression, err
	}
	spread, secondErr := cron.Parse(text, cron.Config{Zone: opts.zone, Name: text})
	if secondErr != nil {
		return expression, err
	}
	_, err = fmt.Fprintln(a.err, "rota: H depends on the schedule's name; these times are an example, add --name NAME for the real ones")
	return spread, err
}

func (a *app) cronFrom(opts cronOptions, loc *time.Location) (time.Time, error) {
	if !opts.fromGiven {
		return a.now(), nil
	}
	from, err := cron.ParseTime(opts.from, loc)
	var refusal *cron.Error
	if errors.As(err, &refusal) {
		refusal.Field = "--from" // the name that the user typed
	}
	return from, err
}

func newCronView(expression cron.Cron, fires []cron.Fire) cronView {
	view := cronView{Describe: expression.Describe(), Times: []cronTime{}}
	for _, fire := range fires {
		view.Times = append(view.Times, cronTime{At: formatExact(fire.At), Note: fire.Note})
	}
	return view
}

// formatExact formats a time as RFC 3339, whose offsets are whole minutes. It uses UTC if the offset has seconds, as in
// Monrovia before 1972.
func formatExact(at time.Time) string {
	if offsetHasSeconds(at) {
		at = at.UTC()
	}
	return at.Format(time.RFC3339)
}

func offsetHasSeconds(at time.Time) bool {
	_, offset := at.Zone()
	return offset%60 != 0
}

func (a *app) writeCron(w io.Writer, expression cron.Cron, from time.Time, fires []cron.Fire, count int) {
	fmt.Fprintf(w, "%s\n\n", expression.Describe())
	times := newTimesTable()
	for _, fire := range fires {
		times.add(cronRow(fire, from)...)
	}
	if len(fires) > 0 {
		a.printTable(w, times)
	}
	if len(fires) < count {
		fmt.Fprintln(w, "no more times before the year 10000")
	}
}

func newTimesTable() *table {
	return newTable("DAY", "LOCAL TIME", "UTC", "IN", "~NOTE").mayDrop("UTC", "DAY")
}

func cronRow(fire cron.Fire, from time.Time) []string {
	local, utc := "2006-01-02 15:04 -07:00", "2006-01-02 15:04"
	if offsetHasSeconds(fire.At) {
		local, utc = local+":00", utc+":05"
	}
	return []string{
		fire.At.Format("Mon"),
		fire.At.Format(local),
		fire.At.UTC().Format(utc),
		distance(fire.At.Unix() - from.Unix()),
		fire.Note,
	}
}

// distance formats a number of seconds with its two largest units: 2h 5m.
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

const cronLong = `Describe a cron expression in words and list its next times, with notes about changes of the clock.
The command needs no server. EXPR has five fields, or is one of @hourly @daily @midnight @weekly @monthly
@yearly @annually:

  minute 0-59   hour 0-23   day-of-month 1-31   month 1-12 or JAN-DEC   day-of-week 0-7 or SUN-SAT

  *        every value
  1,3-5    lists and ranges, low to high; a week may end on Sunday (FRI-SUN)
  */15     every 15th value from the first on; 5/15 from 5 on, 10-30/5 within a range
  H        a value that depends on --name, to spread load; also H(1-4), H/15 and H(0-29)/10

If both day fields are restricted, a day that matches one of them fires.`

const cronExample = `  rota cron '30 9 * * 1-5' --tz Europe/Berlin
  rota cron '30 2 * * *' --tz Europe/Berlin --from 2026-03-27 -n 4    # 02:30 at the change to summer time
  rota cron 'H H(1-4) * * *' --name nightly-backup                    # the value of H for this name
  rota cron @monthly --output json`

var cronNames = []string{"@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"}

// completeCron completes the named expressions and the time zones, and no file names.
func completeCron(cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return cronNames, cobra.ShellCompDirectiveNoFileComp
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/api"
)

const (
	watchDefault = 2 * time.Second
	watchMin     = 100 * time.Millisecond // the statistics cost the server some work
)

func newStatsCommand(a *app) *cobra.Command {
	watch, every, count := false, watchDefault, 0
	cmd := &cobra.Command{
		Use: "stats", Short: "Show the number of queued, running and dead jobs", Args: noArgs(), Aliases: []string{"status"},
		Long: `Show the number of queued, running and dead jobs. With --watch the command shows them again and again until it is
interrupted: a terminal is redrawn, and other output gets one line for each interval.`,
		Example: "  rota stats\n  rota stats --watch\n  rota stats --watch --every 1m >> stats.log",
	}
	flags := cmd.Flags()
	flags.BoolVarP(&watch, "watch", "w", false, "show the numbers again at each interval")
	flags.Var(durationFlag(&every), "every", "interval of --watch, at least "+watchMin.String())
	addNumberFlag(cmd, &count, "count", 0, 0, listMax, "with --watch: stop after `N` times; 0 never stops")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case !watch && (flags.Changed("every") || flags.Changed("count")):
			return usagef("add --watch", "--every and --count need --watch")
		case every < watchMin:
			return usagef("write it like --every 2s", "--every %s is shorter than %s", every, watchMin)
		case watch:
			return untilSignal(cmd, func(ctx context.Context) error { return a.watchStats(ctx, every, count) })
		}
		s, answer, err := fetch[api.Stats](cmd.Context(), a, newGet("/stats"))
		if err != nil {
			return err
		}
		return a.print(answer, func(w io.Writer) { a.writeStats(w, s) })
	}
	return cmd
}

// watchStats prints the statistics at each interval until the context ends, across restarts of the server.
func (a *app) watchStats(ctx context.Context, every time.Duration, count int) error {
	connection := reconnector{a: a}
	for n := 0; ; {
		s, answer, err := fetch[api.Stats](ctx, a, newGet("/stats"))
		switch {
		case ctx.Err() != nil:
			return nil // the user ended it
		case err != nil:
			if err := connection.wait(ctx, err); err != nil {
				return err
			}
			continue
		}
		connection.connected()
		n++
		if err := a.printSample(s, answer); err != nil || n == count {
			return err
		}
		if sleep(ctx, every) != nil {
			return nil
		}
	}
}

// clearScreen moves the cursor to the top left corner and erases the terminal.
const clearScreen = "\x1b[H\x1b[2J"

// printSample prints one sample: the whole screen of a terminal, or one line.
func (a *app) printSample(s api.Stats, answer json.RawMessage) error {
	var text bytes.Buffer
	switch {
	case a.output == formatYAML:
		document, err := asYAML(answer)
		if err != nil {
			return err
		}
		text.WriteString("---\n")
		text.Write(document)
	case a.output == formatJSON:
		if err := json.Compact(&text, answer); err != nil {
			return err
		}
		text.WriteByte('\n')
	case a.terminal.out:
		fmt.Fprintf(&text, "%s%s\n\n", clearScreen, a.now().UTC().Format("2006-01-02 15:04:05 UTC"))
		a.writeStats(&text, s)
	default:
		fmt.Fprintf(&text, "%s  queued %d  scheduled %d  blocked %d  running %d  dead %d\n",
			a.now().UTC().Format(time.RFC3339), s.Queued, s.Scheduled, s.Blocked, s.Running, s.Dead)
	}
	_, err := a.out.Write(text.Bytes())
	return err
}

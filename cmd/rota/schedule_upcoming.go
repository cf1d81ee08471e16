package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/rotajobs/rota/api"
	"github.com/spf13/cobra"
)

func newScheduleUpcomingCommand(a *app) *cobra.Command {
	var count int
	var from, zone string
	cmd := &cobra.Command{
		Use: "upcoming NAME", Short: "List the next times of a schedule, with notes about clock changes", Args: requireArgs("a NAME"),
		Example:           "  rota schedule upcoming nightly -n 5\n  rota schedule upcoming nightly --from 2027-03-27",
		ValidArgsFunction: a.completeNames("/schedules", "name"),
	}
	countFlag(cmd, &count)
	cmd.Flags().StringVar(&from, "from", "", "list times after `TIME` (default: now)")
	zoneFlag(cmd, &zone)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		query := url.Values{"n": {strconv.Itoa(count)}}
		if from != "" {
			start, err := parseTimeFlag("--from", from, zone)
			if err != nil {
				return err
			}
			query.Set("from", start.UTC().Format(time.RFC3339Nano))
		}
		path := "/schedules" + pathSegment(args[0]) + "/upcoming"
		u, answer, err := fetch[api.Upcoming](cmd.Context(), a, request{method: http.MethodGet, path: path, query: query})
		if err != nil {
			return err
		}
		return a.print(answer, func(w io.Writer) { a.writeUpcoming(w, u) })
	}
	return cmd
}

// writeUpcoming prints the table of rota cron with the times from the server. The distance is from now, not from the
// start of the list.
func (a *app) writeUpcoming(w io.Writer, u api.Upcoming) {
	fmt.Fprintf(w, "%s\n\n", sanitize(u.Describe))
	t := newTimesTable().orElse("the schedule does not fire again")
	for _, item := range u.Items {
		local, err := time.Parse(time.RFC3339Nano, item.At)
		if err != nil {
			local = item.UTC.Time
		}
		t.add(local.Format("Mon"), local.Format("2006-01-02 15:04:05 -07:00"), item.UTC.UTC().Format("2006-01-02 15:04:05"),
			a.until(item.UTC.Time), item.Note)
	}
	a.printTable(w, t)
}

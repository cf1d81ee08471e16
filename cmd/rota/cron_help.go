package main

import "github.com/spf13/cobra"

const cronLong = `Says a cron expression in words and lists its next times, with what clock changes do to them.
It needs no server. EXPR has five fields, or is one of @hourly @daily @midnight @weekly @monthly
@yearly @annually:

  minute 0-59   hour 0-23   day-of-month 1-31   month 1-12 or JAN-DEC   day-of-week 0-7 or SUN-SAT

  *        every value
  1,3-5    lists and ranges, low to high; a week may end on Sunday (FRI-SUN)
  */15     every 15th value from the first on; 5/15 from 5 on, 10-30/5 within a range
  H        a value chosen by --name, to spread load; also H(1-4), H/15 and H(0-29)/10

If both day fields are restricted, a day that matches either fires.`

const cronExample = `  rota cron '30 9 * * 1-5' --tz Europe/Berlin
  rota cron '30 2 * * *' --tz Europe/Berlin --from 2026-03-27 -n 4    # what happens to 02:30 in spring
  rota cron 'H H(1-4) * * *' --name nightly-backup                    # where H falls for this name
  rota cron @monthly --output json`

var cronNames = []string{"@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"}

// completeCron offers what can be known: the names of expressions and zones, and never files.
func completeCron(cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return cronNames, cobra.ShellCompDirectiveNoFileComp
	}
	completeZones(cmd)
	for _, flag := range []string{"from", "count", "name"} {
		completeFrom(cmd, flag, nil)
	}
}

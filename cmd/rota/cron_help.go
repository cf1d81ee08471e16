package main

import "github.com/spf13/cobra"

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

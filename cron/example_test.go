package cron_test

import (
	"fmt"
	"time"

	"github.com/rotajobs/rota/cron"
)

func ExampleParse() {
	c, err := cron.Parse("30 9 * * 1-5", cron.Config{Zone: "Europe/Berlin"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Describe())
	at, _ := c.Next(time.Date(2026, 11, 13, 12, 0, 0, 0, time.UTC))
	fmt.Println(at)
	// Output:
	// every weekday at 09:30, Berlin time
	// 2026-11-16 09:30:00 +0100 CET
}

func ExampleParse_refused() {
	_, err := cron.Parse("0 22-2 * * *", cron.Config{})
	fmt.Println(err)
	_, err = cron.Parse("61 * * * *", cron.Config{})
	fmt.Println(err)
	// Output:
	// hour: "22-2" runs backwards; allowed 0-23, low to high; write 22-23,0-2
	// minute: "61" is out of range; allowed 0-59
}

func ExampleParse_hash() {
	for _, name := range []string{"backup-a", "backup-b", "backup-c"} {
		c, err := cron.Parse("H H(1-4) * * *", cron.Config{Name: name})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(name, c.Describe())
	}
	// Output:
	// backup-a every day at 04:40, UTC
	// backup-b every day at 01:51, UTC
	// backup-c every day at 04:13, UTC
}

func ExampleUpcoming() {
	c, err := cron.Parse("30 2 * * *", cron.Config{Zone: "Europe/Berlin"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, fire := range cron.Upcoming(c, time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC), 3) {
		fmt.Printf("%s %q\n", fire.At.Format("Mon 2006-01-02 15:04 -07:00"), fire.Note)
	}
	// Output:
	// Sat 2026-03-28 02:30 +01:00 ""
	// Mon 2026-03-30 02:30 +02:00 "skipped 2026-03-29 02:30: it does not exist, clocks go forward"
	// Tue 2026-03-31 02:30 +02:00 ""
}

func ExampleEveryFrom() {
	starts := time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)
	every, err := cron.EveryFrom(starts, 90*time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	bounded, err := cron.Within(every, time.Time{}, starts.Add(3*time.Hour))
	if err != nil {
		fmt.Println(err)
		return
	}
	fires, more := cron.Between(bounded, starts.Add(-time.Hour), starts.Add(24*time.Hour), 10)
	for _, at := range fires {
		fmt.Println(at.Format("15:04"))
	}
	fmt.Println("more:", more)
	// Output:
	// 09:00
	// 10:30
	// 12:00
	// more: false
}

// Finding the newest three of ten years of minutes takes four calls of Prev.
func ExampleLatest() {
	c, err := cron.Parse("* * * * *", cron.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 11, 15, 3, 0, 30, 0, time.UTC)
	missed, more := cron.Latest(c, now.AddDate(-10, 0, 0), now, 3)
	for _, at := range missed {
		fmt.Println(at.Format(time.DateTime))
	}
	fmt.Println("more:", more)
	// Output:
	// 2026-11-15 02:58:00
	// 2026-11-15 02:59:00
	// 2026-11-15 03:00:00
	// more: true
}

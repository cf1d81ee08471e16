package ddl_test

import (
	"fmt"

	"github.com/rotajobs/rota/sql/ddl"
)

func Example() {
	sources, err := ddl.Split("create job nightly schedule cron '0 2 * * *' timeout 90 as call refresh('all'); show jobs;")
	if err != nil {
		fmt.Println(err)
	}
	for _, source := range sources {
		s, err := ddl.Parse(source.Text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(ddl.Print(s))
	}
	// Output:
	// CREATE JOB nightly
	//   SCHEDULE = CRON '0 2 * * *'
	//   TIMEOUT = 90 SECONDS
	//   AS CALL refresh('all')
	// SHOW JOBS
}

func ExampleParse_error() {
	_, err := ddl.Parse("CREATE JOB nightly\n  SCHEDULE = EVERY 5 HOURZ")
	fmt.Println(err)
	// Output:
	// line 2, column 22: found HOURZ, expected a unit (SECONDS, MINUTES, HOURS, DAYS, WEEKS, MILLISECONDS); did you mean HOURS?
}

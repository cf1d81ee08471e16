package storetest

import (
	"flag"
	"strconv"
	"testing"
)

// FewerChecks limits how many random cases each check of this test tries.
func FewerChecks(t *testing.T, most int) {
	checks := flag.Lookup("rapid.checks")
	was := checks.Value.String()
	if n, err := strconv.Atoi(was); err != nil || n <= most {
		return
	}
	set := func(value string) {
		if err := checks.Value.Set(value); err != nil {
			t.Fatal(err)
		}
	}
	set(strconv.Itoa(most))
	t.Cleanup(func() { set(was) })
}

// Package depth says how many rounds the random and concurrent tests run. There are
// three depths: make quick passes -short to go test, make test passes nothing, and
// make deep sets ROTA_DEEP.
package depth

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// Var names the environment variable that asks for a deep run.
const Var = "ROTA_DEEP"

// checksFlag is the flag of package rapid: how many random cases each check tries.
const checksFlag = "rapid.checks"

// Deep reports whether this is a deep run.
func Deep() bool { return os.Getenv(Var) != "" }

// Of is the number of rounds at the depth of this run.
func Of(quick, usual, deep int) int {
	if !flag.Parsed() { // in a TestMain
		flag.Parse()
	}
	switch {
	case Deep():
		return deep
	case testing.Short():
		return quick
	}
	return usual
}

// Checks sets how many random cases each rapid.Check of this process tries, unless the
// flag rapid.checks says so. A TestMain calls it.
func Checks(quick, usual, deep int) {
	n := Of(quick, usual, deep)
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == checksFlag })
	if given {
		return
	}
	if err := flag.Set(checksFlag, strconv.Itoa(n)); err != nil {
		panic(err) // the tests do not use rapid
	}
}

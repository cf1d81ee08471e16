package storetest

import "testing"

// RaceTests are the races by name, for a test that wants them to fail.
func RaceTests() map[string]func(testing.TB, Harness) {
	all := map[string]func(testing.TB, Harness){}
	for _, r := range races() {
		all[r.name] = r.run
	}
	for _, c := range crowdRaces() {
		all[c.name] = c.run
	}
	return all
}

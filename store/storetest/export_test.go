package storetest

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/rotajobs/rota"
)

// RaceTests returns the races by name, for a test that wants them to fail.
func RaceTests() map[string]func(testing.TB, Harness) {
	all := map[string]func(testing.TB, Harness){}
	for _, r := range races() {
		all[r.name] = r.run
	}
	for _, c := range manyRaces() {
		all[c.name] = c.run
	}
	return all
}

// AgainstModel sends random batches one after the other and wants the answers
// and rows of the model.
func AgainstModel(t *testing.T, open func() rota.Store) {
	rapid.Check(t, func(rt *rapid.T) {
		s, g := open(), newGen(rt)
		for range rapid.IntRange(1, logMax).Draw(rt, "batches") {
			b := g.batch(rt)
			compareAnswers(rt, s, b, g.apply(rt, b))
		}
		compareRows(rt, g.model, s)
	})
}

package sqlite

import (
	"testing"

	"github.com/rotajobs/rota/internal/rules"
)

// rounds is how often the rules load rows for each scenario. On PostgreSQL each round is a round
// trip, unless the rows are cached.
var rounds = map[int][]string{
	1: {
		"enqueue", "extend", "note", "cancel running", "edit", "delay", "normalise", "put type", "switch type",
		"put template", "put schedule", "switch schedule", "enqueue group", "cancel group", "reserve",
		"direct", "release", "finish of a direct run", "remember", "put webhooks", "set owner",
		"delete secret", "promote secret key", "rewrap secrets",
	},
	2: {
		"ready", "claim", "finish", "cancel queued", "move", "reap", "recover", "archive", "put limits",
		"prune", "redrive", "run again", "enqueue with webhooks", "claim of a delivery", "finish of a delivery",
		"put secret", "put secret again",
	},
	3: {
		"all", "delete schedule", "fire once", "trigger", "backfill", "finish of a key", "claim of a rate",
		"sweep", "claim with webhooks", "finish with webhooks", "reap with webhooks", "sweep of each key", "finish of a key and a type",
		"recreate with secrets", "put secret of another key",
	},
	4: {
		"sweep of each key of a type", "death of a member", "run now", "fire with webhooks", "all with the webhooks that it puts",
		"drop with secrets",
	},
	5: {
		"fire",
	},
	6: {
		"finish of a dependency", "expire",
	},
}

// countingTx is the writer with a count of the rounds in which rules load rows.
type countingTx struct {
	*writer
	rounds int
}

func (c *countingTx) Load(u *rules.UnitOfWork) error {
	c.rounds++
	return c.writer.Load(u)
}

func TestRulesLoadRowsInFewRounds(t *testing.T) {
	want := map[string]int{}
	for count, names := range rounds {
		for _, name := range names {
			want[name] = count
		}
	}
	for _, sc := range scenarios {
		s := openTest(t, Config{})
		batch := sc.prepare(t, s)
		inTransaction(t, s, func(w *writer) {
			tx := &countingTx{writer: w}
			_, err := rules.Apply(tx, batch)
			must(t, err)
			if tx.rounds != want[sc.name] {
				t.Errorf("%s: the rules load rows in %d rounds, not %d", sc.name, tx.rounds, want[sc.name])
			}
		})
	}
}

func TestEveryKindHasALoader(t *testing.T) { must(t, rules.CheckLoaders(loaders)) }

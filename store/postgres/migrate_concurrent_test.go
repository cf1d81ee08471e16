package postgres

import (
	"io/fs"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// TestConcurrentOpenCreatesSchemaOnce opens many stores in an empty database at once, directly and
// through a pooler.
func TestConcurrentOpenCreatesSchemaOnce(t *testing.T) {
	server := pgtest.Shared(t)
	bouncer := server.Bouncer(t, pgtest.Transaction)
	for name, at := range map[string]func(string) string{"connected to the server": server.URL, "through a pooler": bouncer.URL} {
		t.Run(name, func(t *testing.T) {
			const many = 10
			url := at(server.NewDatabase(t, ""))
			var stores [many]*Store
			var errs [many]error
			var all sync.WaitGroup
			for i := range many {
				all.Go(func() { stores[i], errs[i] = OpenWith(url, Config{Poll: true, Logger: quiet}) })
			}
			all.Wait()
			for i, s := range stores {
				must(t, errs[i])
				t.Cleanup(func() { _ = s.Close() })
			}
			for _, s := range stores {
				done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "mail"}}})
			}
			jobs, err := stores[0].Jobs(t.Context(), rota.JobQuery{Limit: 2 * many})
			if err != nil || len(jobs) != many {
				t.Errorf("want %d jobs, got %d: %v", many, len(jobs), err)
			}
			steps, err := fs.Glob(migrations, "migrations/*.sql")
			must(t, err)
			version := rows(t, stores[0], `SELECT value FROM rota_meta WHERE key = 'version'`)
			if want := [][]string{{strconv.Itoa(len(steps))}}; !slices.EqualFunc(version, want, slices.Equal) {
				t.Errorf("the schema has version %v, want %v", version, want)
			}
		})
	}
}

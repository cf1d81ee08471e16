package access_test

import (
	"slices"
	"testing"

	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestInterfacesAgreeOnPostgres is TestInterfacesAgree on the other store, with one person for each verdict.
func TestInterfacesAgreeOnPostgres(t *testing.T) {
	server := pgtest.Shared(t)
	template := server.Template(t, "node", func(url string) error {
		s, err := postgres.OpenWith(url, postgres.Config{Poll: true})
		if err != nil {
			return err
		}
		return s.Close()
	})
	people := slices.DeleteFunc(newPeople(), func(p *person) bool {
		return !slices.Contains([]string{"nobody", "owner", "execute-job", "root"}, p.name)
	})
	d := openInterfaces(t, people, server.URL(server.NewDatabase(t, template)))
	d.history()
	for i := range ways {
		if w := &ways[i]; w.route != "GET /backup" { // a PostgreSQL store is backed up with the tools of PostgreSQL
			d.walk(w, people)
		}
	}
}

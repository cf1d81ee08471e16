package node

import (
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/dynamo"
	"github.com/rotajobs/rota/store/dynamo/dyntest"
	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// sharedKind is a kind of store that several processes share.
type sharedKind struct {
	name string
	url  func(t *testing.T) string                 // of an empty store
	open func(t *testing.T, url string) rota.Store // as a process of its own would
}

var sharedKinds = []sharedKind{
	{"postgres", newSharedStore, func(t *testing.T, url string) rota.Store {
		store, err := postgres.OpenWith(url, postgres.Config{Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		return store
	}},
	{"dynamodb", newTable, func(t *testing.T, url string) rota.Store {
		store, err := dynamo.Open(t.Context(), url, dynamo.Config{Dir: t.TempDir(), Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		return store
	}},
}

// onSharedStores runs a test on each kind.
func onSharedStores(t *testing.T, test func(t *testing.T, kind sharedKind)) {
	for _, kind := range sharedKinds {
		t.Run(kind.name, func(t *testing.T) { test(t, kind) })
	}
}

// newSharedStore returns the URL of an empty PostgreSQL store.
func newSharedStore(t *testing.T) string {
	t.Helper()
	server := pgtest.Shared(t)
	template := server.Template(t, "node", func(url string) error {
		s, err := postgres.OpenWith(url, postgres.Config{Poll: true, Logger: quiet})
		if err != nil {
			return err
		}
		return s.Close()
	})
	return server.URL(server.NewDatabase(t, template))
}

// tableParameters let a node know the time of the server after one answer, whose Date has whole seconds, and see
// what other nodes write soon.
const tableParameters = "&skew=2s&poll=100ms"

// newTable returns the URL of a DynamoDB store whose table does not exist.
func newTable(t *testing.T) string {
	t.Helper()
	server := dyntest.Shared(t, dyntest.Dynoxide)
	return server.URL(server.TableName(t)) + tableParameters
}

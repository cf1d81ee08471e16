package dynamo

import (
	"context"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/dynamo/dyntest"
	"github.com/rotajobs/rota/store/sqlite/sqlitetest"
	"github.com/rotajobs/rota/store/storetest"
)

// Tests know the time of the server after one answer: its Date has whole seconds.
const testParameters = "&skew=2s&layout=off"

func TestConformance(t *testing.T) {
	storetest.Run(t, harness(dyntest.Shared(t, dyntest.Dynoxide)))
}

func harness(server *dyntest.Server) storetest.Harness {
	return storetest.Harness{
		Open: func(t testing.TB) rota.Store {
			return openTest(t, server.URL(server.TableName(t))+testParameters)
		},
		Break: func(t testing.TB, s rota.Store, job rota.ID, how storetest.Breakage) {
			sqlitetest.Break(t, s.(*testStore).path, job, how)
		},
		Tamper: func(t testing.TB, s rota.Store) storetest.Tamper { return sqlitetest.Tamper(t, s.(*testStore).path) },
	}
}

// testStore is a store and the file of its replica.
type testStore struct {
	*Store
	path string
}

func openTest(t testing.TB, url string) *testStore {
	t.Helper()
	dir := sqlitetest.MemoryDir(t)
	s, err := Open(context.Background(), url, Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return &testStore{s, dir + "/" + ReplicaName}
}

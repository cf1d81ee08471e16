package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite/sqlitetest"
	"github.com/rotajobs/rota/store/storetest"
)

func TestConformance(t *testing.T) { storetest.Run(t, harness()) }

func harness() storetest.Harness {
	return storetest.Harness{
		Open: func(t testing.TB) rota.Store { return openTest(t, Config{}) },
		Break: func(t testing.TB, s rota.Store, job rota.ID, how storetest.Breakage) {
			sqlitetest.Break(t, s.(*Store).path, job, how)
		},
		Tamper: func(t testing.TB, s rota.Store) storetest.Tamper { return sqlitetest.Tamper(t, s.(*Store).path) },
		Pause: func(_ testing.TB, s rota.Store, at func([]rota.Command)) {
			store := s.(*Store)
			w := <-store.writer
			w.beforeWrite = at
			store.writer <- w
		},
	}
}

func openTest(t testing.TB, config Config) *Store {
	t.Helper()
	s, err := OpenWith(filepath.Join(sqlitetest.MemoryDir(t), "rota.db"), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

package engine_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/sqlite"
)

// storeWithLongLeases accepts no lease under a minute.
type storeWithLongLeases struct{ rota.Store }

func (storeWithLongLeases) CheckLease(lease time.Duration) error {
	if lease < time.Minute {
		return rota.Invalidf("lease", "is %s; the store needs a minute", lease)
	}
	return nil
}

func TestRunRefusesLeaseThatTheStoreCannotKeep(t *testing.T) {
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	e := engine.New(rota.New(storeWithLongLeases{store}), engine.NewRegistry(), engine.Config{Lease: 5 * time.Second})
	if err := e.Run(t.Context()); rota.CodeOf(err) != rota.Invalid || !strings.Contains(err.Error(), "needs a minute") {
		t.Errorf("Run with a lease that is too short: %v", err)
	}
}

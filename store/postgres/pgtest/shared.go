package pgtest

import (
	"os"
	"sync"
	"testing"
)

// shared is the cluster of this process.
var shared struct {
	mu      sync.Mutex
	cluster *Cluster
	err     error
}

// Shared is the cluster that tests share: that of the test run, if RunVar names one,
// and otherwise one for the tests of this package, which starts when it is first asked
// for. The package's TestMain calls Main, or Close at its end.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.cluster == nil && shared.err == nil {
		shared.cluster, shared.err = open()
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.cluster
}

func open() (*Cluster, error) {
	if path := os.Getenv(RunVar); path != "" {
		return attach(path)
	}
	return Start("", Options{})
}

// Main is the TestMain of a package.
func Main(m *testing.M) {
	defer Close()
	m.Run() // who calls TestMain looks after the outcome
}

// Close ends the cluster that was shared, if there is one.
func Close() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.cluster != nil {
		shared.cluster.Close()
		shared.cluster = nil
	}
}

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

// Shared returns the cluster that tests share: that of the test run, if RunVar is set, and
// otherwise one for this package, which the first call starts. The package's TestMain calls Main,
// or Close at its end.
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

// Main runs the tests of a package and closes its cluster.
func Main(m *testing.M) {
	defer Close()
	m.Run() // the testing package exits with the result
}

// Close closes the shared cluster if there is one.
func Close() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.cluster != nil {
		shared.cluster.Close()
		shared.cluster = nil
	}
}

package dynamo

import (
	"context"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/depth"
	"github.com/rotajobs/rota/store/dynamo/dyntest"
	"github.com/rotajobs/rota/store/sqlite/sqlitetest"
	"github.com/rotajobs/rota/store/storetest"
)

// Tests know the time of the server after one answer: its Date has whole seconds.
const testParameters = "&skew=2s&layout=off"

// TestConformance runs the whole suite in a deep run. Otherwise it leaves the races out, which the lock of the log
// orders in one process, and tries fewer random cases.
func TestConformance(t *testing.T) {
	h := harness(dyntest.Shared(t, dyntest.Dynoxide))
	if depth.Deep() {
		storetest.Run(t, h)
		return
	}
	storetest.FewerChecks(t, depth.Of(3, 15, 100))
	t.Run("Stories", func(t *testing.T) { storetest.Stories(t, h) })
	t.Run("RandomAgainstModel", func(t *testing.T) { storetest.RandomAgainstModel(t, h) })
	t.Run("Replay", func(t *testing.T) { storetest.Replay(t, h) })
	t.Run("Concurrent", func(t *testing.T) { storetest.Concurrent(t, h) })
}

// TestConformanceWithoutTransactions runs part of the suite on a server that has no transactions, and does not return
// the item of a failed condition.
func TestConformanceWithoutTransactions(t *testing.T) {
	h := harness(dyntest.Shared(t, dyntest.Dynalite))
	h.Open = func(t testing.TB) rota.Store {
		server := dyntest.Shared(t, dyntest.Dynalite) // another one if it has ended
		return openTest(t, server.URL(server.TableName(t))+testParameters)
	}
	if depth.Deep() {
		storetest.Run(t, h)
		return
	}
	storetest.StoriesOf(t, h, fewStories...)
}

// TestStoriesWithFailures runs stories while every tenth request fails: DynamoDB throttles, has conflicts, answers 500
// before or after it has written, or the connection breaks before or after the write.
func TestStoriesWithFailures(t *testing.T) {
	server := dyntest.Shared(t, dyntest.Dynoxide)
	proxy := server.Proxy(t)
	proxy.Every(10)
	h := harness(server)
	h.Open = func(t testing.TB) rota.Store {
		return openTest(t, proxy.URL(server.TableName(t))+testParameters)
	}
	if depth.Deep() {
		storetest.Stories(t, h)
	} else {
		storetest.StoriesOf(t, h, fewStories...)
	}
	counts := proxy.Counts()
	t.Logf("faults: %v of %v", counts.Faults, counts.Requests)
	if len(counts.Faults) < len(dyntest.TransientFaults())-1 { // of transactions there are few
		t.Errorf("the test saw only the faults %v", counts.Faults)
	}
}

// fewStories are enough for what differs between servers. A deep run has all.
var fewStories = []string{"enqueue", "claim", "finish", "resend", "group", "batch"}

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
	test testing.TB // if it is set, Close compares the items with the executions
}

// Close closes the store.
func (s *testStore) Close() error {
	if s.test != nil {
		eventually(s.test, 20*time.Second, func() error { return checkItems(s.test, s) })
	}
	return s.Store.Close()
}

func openTest(t testing.TB, url string) *testStore {
	t.Helper()
	dir := sqlitetest.MemoryDir(t)
	s, err := Open(context.Background(), url, Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return &testStore{Store: s, path: dir + "/" + ReplicaName}
}

// TestConformanceWithLayout runs part of the suite while the items of jobs follow, and compares them at its end.
func TestConformanceWithLayout(t *testing.T) {
	server := dyntest.Shared(t, dyntest.Dynoxide)
	h := harness(server)
	h.Open = func(t testing.TB) rota.Store {
		s := openTest(t, server.URL(server.TableName(t))+layoutParameters)
		s.test = t
		return s
	}
	plain := h.Break
	h.Break = func(t testing.TB, s rota.Store, job rota.ID, how storetest.Breakage) {
		s.(*testStore).test = nil // no entry of the log has done this
		plain(t, s, job, how)
	}
	if depth.Deep() {
		storetest.Run(t, h)
		return
	}
	storetest.StoriesOf(t, h, layoutStories...)
}

// layoutStories change what items show. A deep run has the whole suite.
var layoutStories = []string{"unique", "retry", "edit", "prune", "redrive"}

package node

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/wrap"
)

// openClient opens a store as a process of its own would.
func openClient(t *testing.T, kind sharedKind, url string) *rota.Client {
	t.Helper()
	store := kind.open(t, url)
	t.Cleanup(func() { _ = store.Close() })
	return rota.New(wrap.Coalesce(store))
}

// An embedded server shows the events of other processes, and passes their cancels on to its remote workers.
func TestServeOnSharedStoreReceivesEventsAndStopsOfOthers(t *testing.T) {
	onSharedStores(t, testServeReceivesEventsAndStopsOfOthers)
}

func testServeReceivesEventsAndStopsOfOthers(t *testing.T, kind sharedKind) {
	url, data := kind.url(t), t.TempDir()
	other := openClient(t, kind, url)
	ctx, stopServer := context.WithCancel(t.Context())
	address, serving := serveQueue(t, ctx, openClient(t, kind, url), nil, ServeConfig{Data: data})
	t.Cleanup(func() { stopServer(); <-serving.done })
	text, err := os.ReadFile(filepath.Join(data, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	token := strings.TrimSpace(string(text))
	stream := followEvents(t, address, token, "kinds=job.*", "")

	h, reg := newBlocking(), engine.NewRegistry()
	reg.Func("remote", rota.TypeSpec{}, h.run)
	startLongLeaseWorker(t, address, token, reg)
	job, err := rota.Do[*rota.Enqueued](t.Context(), other.Store(), &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "remote", Name: "one"}}})
	if err != nil {
		t.Fatal(err)
	}
	await(t, "started", h.started)
	if _, err := other.Cancel(t.Context(), job.Jobs[0].Job.ID, ""); err != nil {
		t.Fatal(err)
	}
	await(t, "stopped", h.stopped)
	for missing := 3; missing > 0; { // those of the other process may arrive later than the start of the run
		switch e := stream.next(); e.kind {
		case "job.enqueued", "job.stopping", "job.cancelled":
			missing--
		}
	}
}

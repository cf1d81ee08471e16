package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// recordingClient is a client that records deadlines and writes, checks the scratch directory during
// writes, and may stop accepting data.
type recordingClient struct {
	*httptest.ResponseRecorder
	t         *testing.T
	dir       string
	deadlines int
	writes    int
	stallAt   int // the write that times out
}

func (w *recordingClient) SetReadDeadline(time.Time) error { return nil }

func (w *recordingClient) SetWriteDeadline(at time.Time) error {
	if at.After(time.Now()) {
		w.deadlines++
	}
	return nil
}

func (w *recordingClient) Write(data []byte) (int, error) {
	w.writes++
	if left, _ := filepath.Glob(filepath.Join(w.dir, "*")); w.Code == http.StatusOK && len(left) != 0 {
		w.t.Errorf("%v exists while the copy is sent", left)
	}
	if w.writes == w.stallAt {
		return 0, os.ErrDeadlineExceeded
	}
	return w.ResponseRecorder.Write(data)
}

// sendTestBackup requests a backup of a store with the given size.
func sendTestBackup(t *testing.T, size int, free uint64, stall int) (w *recordingClient, cut bool) {
	dir := t.TempDir()
	handler, err := New(Config{
		Store: eventlessStore{}, Token: "a-token-that-nobody-guesses", ScratchDir: dir,
		Backup: func(ctx context.Context, path string, progress func(done, total int64)) error {
			progress(int64(size/4), int64(size))
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return os.WriteFile(path, make([]byte, size), 0o600)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	handler.(*server).freeDisk = func(string) (uint64, bool) { return free, true }
	r := httptest.NewRequest(http.MethodGet, base+"/backup", nil)
	r.Header.Set("Authorization", "Bearer a-token-that-nobody-guesses")
	w = &recordingClient{ResponseRecorder: httptest.NewRecorder(), t: t, dir: dir, stallAt: stall}
	defer func() { cut = recover() == http.ErrAbortHandler }()
	handler.ServeHTTP(w, r)
	return w, false
}

// TestBackupToSlowClientExtendsDeadlinePerWrite checks that the deadline applies to each write and not
// to the whole response, and that the copy is removed before it is sent.
func TestBackupToSlowClientExtendsDeadlinePerWrite(t *testing.T) {
	const size = 10 * writeChunk
	w, cut := sendTestBackup(t, size, 1<<40, 0)
	if w.Code != http.StatusOK || w.Body.Len() != size || cut || w.deadlines < 10 {
		t.Errorf("%d, %d bytes, %d deadlines", w.Code, w.Body.Len(), w.deadlines)
	}
	if w, cut := sendTestBackup(t, size, 1<<40, 3); !cut || w.Body.Len() >= size {
		t.Errorf("the response was not aborted after a stalled write: %d bytes", w.Body.Len())
	}
}

func TestBackupWithoutFreeDiskSpaceIsRefused(t *testing.T) {
	const size = 8 << 20
	w, _ := sendTestBackup(t, size, 6<<20+diskReserve-1, 0)
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "needs 6 MiB more") || !strings.Contains(w.Body.String(), "134 MiB are free") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w, _ := sendTestBackup(t, size, 6<<20+diskReserve, 0); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestFreeDiskSpaceReportsUnknownDirectory(t *testing.T) {
	free, known := freeDiskSpace(t.TempDir())
	if known && free == 0 {
		t.Error("free space is 0")
	}
	if _, known := freeDiskSpace(filepath.Join(t.TempDir(), "nothing")); known {
		t.Error("free space of a missing directory is known")
	}
}

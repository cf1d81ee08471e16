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

// watchful is a client that has patience for each write, or not, and sees what
// is on the disk meanwhile.
type watchful struct {
	*httptest.ResponseRecorder
	t         *testing.T
	dir       string
	deadlines int
	writes    int
	stall     int // the write that is never taken
}

func (w *watchful) SetReadDeadline(time.Time) error { return nil }

func (w *watchful) SetWriteDeadline(at time.Time) error {
	if at.After(time.Now()) {
		w.deadlines++
	}
	return nil
}

func (w *watchful) Write(data []byte) (int, error) {
	w.writes++
	if left, _ := filepath.Glob(filepath.Join(w.dir, "*")); w.Code == http.StatusOK && len(left) != 0 {
		w.t.Errorf("%v stands there while it is sent", left)
	}
	if w.writes == w.stall {
		return 0, os.ErrDeadlineExceeded
	}
	return w.ResponseRecorder.Write(data)
}

// backUp asks for a backup of a store that is so long.
func backUp(t *testing.T, size int, free uint64, stall int) (w *watchful, cut bool) {
	dir := t.TempDir()
	handler, err := New(Config{
		Store: silent{}, Token: "a-token-that-nobody-guesses", ScratchDir: dir,
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
	handler.(*api).freeDisk = func(string) (uint64, bool) { return free, true }
	r := httptest.NewRequest(http.MethodGet, base+"/backup", nil)
	r.Header.Set("Authorization", "Bearer a-token-that-nobody-guesses")
	w = &watchful{ResponseRecorder: httptest.NewRecorder(), t: t, dir: dir, stall: stall}
	defer func() { cut = recover() == http.ErrAbortHandler }()
	handler.ServeHTTP(w, r)
	return w, false
}

// TestABackupIsSentToWhoGoesOnTakingIt gives a client time for each part and not
// for all, and keeps no second copy that somebody could forget.
func TestABackupIsSentToWhoGoesOnTakingIt(t *testing.T) {
	const size = 10 * writeChunk
	w, cut := backUp(t, size, 1<<40, 0)
	if w.Code != http.StatusOK || w.Body.Len() != size || cut || w.deadlines < 10 {
		t.Errorf("%d, %d bytes, %d deadlines", w.Code, w.Body.Len(), w.deadlines)
	}
	if w, cut := backUp(t, size, 1<<40, 3); !cut || w.Body.Len() >= size {
		t.Errorf("a client that takes no more is told that it has all: %d bytes", w.Body.Len())
	}
}

func TestABackupDoesNotFillTheDisk(t *testing.T) {
	const size = 8 << 20
	w, _ := backUp(t, size, 6<<20+diskReserve-1, 0)
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "needs 6 MiB more") || !strings.Contains(w.Body.String(), "134 MiB are free") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w, _ := backUp(t, size, 6<<20+diskReserve, 0); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestTheRoomOnADiskIsKnown(t *testing.T) {
	free, known := freeDiskSpace(t.TempDir())
	if known && free == 0 {
		t.Error("there is none")
	}
	if _, known := freeDiskSpace(filepath.Join(t.TempDir(), "nothing")); known {
		t.Error("there is some where there is nothing")
	}
}

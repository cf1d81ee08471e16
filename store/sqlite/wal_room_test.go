package sqlite

import (
	"os"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// TestTheLogHasRoom: SQLite writes over zeros, never beyond the end of the file,
// and a process that dies leaves a log that is read as far as it was written.
func TestTheLogHasRoom(t *testing.T) {
	s := openTest(t, Config{})
	for range 3 {
		time.Sleep(2 * walCalm)
		apply(t, s, at(0, enqueue(rota.NewJob{Type: "mail"})))
	}
	size := func() int64 {
		info, err := os.Stat(s.path + "-wal")
		must(t, err)
		return info.Size()
	}
	before := size()
	if before < walPiece {
		t.Fatalf("the log has %d bytes", before)
	}
	for range 10 {
		apply(t, s, at(0, enqueue(rota.NewJob{Type: "mail"})))
	}
	if after := size(); after != before {
		t.Errorf("it has grown from %d to %d bytes", before, after)
	}
	torn := picture(t, s.path)
	again, err := OpenWith(torn, Config{Logger: quiet})
	must(t, err)
	defer again.Close()
	verifyClean(t, again)
	jobs, err := again.Jobs(t.Context(), rota.JobQuery{Limit: 100})
	must(t, err)
	if len(jobs) != 13 {
		t.Errorf("%d of 13 jobs are there", len(jobs))
	}
}

// TestTheLogGrowsOnlySoFar: beyond its length at a checkpoint no room is made,
// and none where the log cannot be written.
func TestTheLogGrowsOnlySoFar(t *testing.T) {
	path := t.TempDir() + "/log"
	file, err := os.Create(path)
	must(t, err)
	must(t, file.Truncate(walMost))
	must(t, file.Close())
	r := &walRoom{path: path}
	r.make()
	info, err := os.Stat(path)
	must(t, err)
	if info.Size() != walMost || !r.full || r.file != nil {
		t.Errorf("it has %d bytes, and is watched: %t", info.Size(), !r.full)
	}
	gone := &walRoom{path: path + "-gone"}
	gone.make()
	if _, err := os.Stat(gone.path); !os.IsNotExist(err) {
		t.Errorf("a log was made: %v", err)
	}
}

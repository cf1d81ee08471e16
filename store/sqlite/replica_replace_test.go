package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite/sqlitetest"
)

// copyReplica writes a copy of a replica.
func copyReplica(t testing.TB, r *Replica) string {
	t.Helper()
	path := filepath.Join(sqlitetest.MemoryDir(t), "copy.db")
	must(t, r.Copy(t.Context(), path))
	return path
}

// divergedReplica has applied other entries than those of the log.
func divergedReplica(t testing.TB, log string, entries int) *Replica {
	t.Helper()
	r := openReplica(t)
	for i := range entries {
		e := entry(uint64(i+1), noon, enqueue(rota.NewJob{Type: "web", UniqueKey: fmt.Sprint(i)}), claim(1),
			&rota.PutThrottle{Meta: rota.NewMeta("eve"), Spec: rota.ThrottleSpec{Global: i + 1}})
		e.Log = log
		applyAt(t, r, e)
	}
	return r
}

// TestCopyUnderLoadReplacesReplicas takes a copy while entries are applied, and replaces replicas of several
// kinds by it.
func TestCopyUnderLoadReplacesReplicas(t *testing.T) {
	entries := randomEntries(t, 31, 200)
	r, twin := openReplica(t), openReplica(t)
	for _, e := range entries[:50] {
		applyAt(t, r, e)
	}
	var load sync.WaitGroup
	load.Go(func() {
		for _, e := range entries[50:] {
			if _, err := r.ApplyAt(context.Background(), e); err != nil {
				t.Error(err)
				return
			}
		}
	})
	path := copyReplica(t, r)
	load.Wait()
	checkOnlyFile(t, path)
	copied := openReplicaAt(t, copyFile(t, path), Config{})
	index := copied.Applied().Index
	if index < 50 || index > 200 {
		t.Fatalf("the copy is at entry %d", index)
	}
	for _, e := range entries[:index] {
		applyAt(t, twin, e)
	}
	wantSame(t, copied, twin)
	behind := openReplica(t)
	for _, e := range entries[:20] {
		applyAt(t, behind, e)
	}
	for _, e := range entries[index:] {
		applyAt(t, twin, e)
	}
	wantSame(t, r, twin)
	for name, target := range map[string]*Replica{
		"empty": openReplica(t), "behind": behind, "diverged": divergedReplica(t, "log", 30), "of another log": divergedReplica(t, "other", 300),
		"ahead": r, "copied": copied,
	} {
		t.Run(name, func(t *testing.T) {
			wake, end := target.Wake()
			defer end()
			must(t, target.Replace(t.Context(), path))
			select {
			case <-wake:
			default:
				t.Error("workers were not woken")
			}
			if target.Applied().Index != index {
				t.Fatalf("at entry %d after the replacement, want %d", target.Applied().Index, index)
			}
			half := index + (200-index)/2
			for _, e := range entries[index:half] {
				applyAt(t, target, e)
			}
			must(t, target.Close())
			target = openReplicaAt(t, target.path, Config{})
			for _, e := range entries[half:] {
				applyAt(t, target, e)
			}
			wantSame(t, target, twin)
			verifyAudit(t, target)
			verifyClean(t, target)
		})
	}
	checkOnlyFile(t, path)
}

func copyFile(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	to := filepath.Join(sqlitetest.MemoryDir(t), filepath.Base(path))
	must(t, os.WriteFile(to, content, 0o600))
	return to
}

// TestViewKeepsSnapshotDuringReplace replaces a replica under a view, and closes the view afterwards.
func TestViewKeepsSnapshotDuringReplace(t *testing.T) {
	r, other := divergedReplica(t, "log", 3), divergedReplica(t, "log", 40)
	path := copyReplica(t, other)
	v, err := r.View(t.Context())
	must(t, err)
	count := func(reads rota.Reader, want int) {
		t.Helper()
		if n, err := reads.CountJobs(t.Context(), rota.JobQuery{}); err != nil || n != int64(want) {
			t.Errorf("%d jobs, %v; want %d", n, err, want)
		}
	}
	count(v, 3)
	count(r, 3)
	must(t, r.Replace(t.Context(), path))
	count(v, 3)
	count(r, 40)
	must(t, r.Sync(t.Context())) // while the view reads the old snapshot
	applyAt(t, r, entry(41, noon, enqueue(rota.NewJob{Type: "mail"})))
	count(v, 3)
	count(r, 41)
	must(t, v.Close())
	must(t, r.Sync(t.Context()))
	again, err := r.View(t.Context())
	must(t, err)
	count(again, 41)
	must(t, again.Close())
	if open := reopenReplica(t, copyFiles(t, r.path)); open.Applied() != r.Applied() {
		t.Errorf("reopened at %+v, want %+v", open.Applied(), r.Applied())
	}
}

func reopenReplica(t testing.TB, path string) *Replica {
	t.Helper()
	return openReplicaAt(t, path, Config{})
}

// TestReplaceUnderReadersAndWriter replaces a replica again and again while others read it.
func TestReplaceUnderReadersAndWriter(t *testing.T) {
	r := divergedReplica(t, "log", 5)
	copies := []string{copyReplica(t, divergedReplica(t, "log", 10)), copyReplica(t, divergedReplica(t, "log", 150))}
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil {
				n, err := r.CountJobs(ctx, rota.JobQuery{})
				if err != nil && !errors.Is(err, context.Canceled) || err == nil && n != 5 && n != 10 && n != 150 {
					t.Errorf("%d jobs, %v", n, err)
				}
			}
		})
	}
	for i := range 10 {
		must(t, r.Replace(t.Context(), copies[i%2]))
	}
	stop()
	readers.Wait()
	verifyClean(t, r)
}

// TestReplaceRefusesOtherFiles has files that are no copies of a replica. The replica keeps its contents.
func TestReplaceRefusesOtherFiles(t *testing.T) {
	r, twin := openReplica(t), openReplica(t)
	for _, e := range randomEntries(t, 41, 80) {
		applyAt(t, r, e)
		applyAt(t, twin, e)
	}
	good := copyReplica(t, divergedReplica(t, "log", 150))
	content, err := os.ReadFile(good)
	must(t, err)
	file := func(name string, change func(path string)) string {
		path := filepath.Join(sqlitetest.MemoryDir(t), name)
		must(t, os.WriteFile(path, content, 0o600))
		change(path)
		return path
	}
	sql := func(statement string) func(string) {
		return func(path string) {
			conn := rawConn(t, path)
			execute(t, conn, statement)
			must(t, conn.Close())
		}
	}
	write := func(change func(b []byte) []byte) func(string) {
		return func(path string) { must(t, os.WriteFile(path, change(append([]byte(nil), content...)), 0o600)) }
	}
	plain := openTest(t, Config{})
	apply(t, plain, at(0, enqueue(rota.NewJob{Type: "mail"})))
	plainCopy := filepath.Join(t.TempDir(), "plain.db")
	must(t, plain.Backup(t.Context(), plainCopy, nil))
	stripped := filepath.Join(t.TempDir(), "backup.db")
	must(t, twin.Backup(t.Context(), stripped, nil))
	for name, c := range map[string]struct {
		path string
		code rota.Code
		text string
	}{
		"a missing file":           {filepath.Join(t.TempDir(), "missing.db"), rota.Unavailable, "cannot be opened"},
		"a plain store":            {plainCopy, rota.Conflict, "plain.db is no copy of a replica"},
		"a backup":                 {stripped, rota.Conflict, "backup.db is no copy of a replica"},
		"no database":              {file("text", write(func([]byte) []byte { return []byte("this is a text of more than a page") })), rota.Internal, "is not an SQLite database"},
		"an empty file":            {file("empty", write(func([]byte) []byte { return nil })), rota.NotFound, "holds no Rota store"},
		"another database":         {file("other", func(path string) { must(t, os.Remove(path)); sql(`CREATE TABLE x (y)`)(path) }), rota.NotFound, "holds no Rota store"},
		"a newer schema":           {file("newer", sql(`UPDATE rota_meta SET value = '99' WHERE key = 'version'`)), rota.Conflict, "schema version 99"},
		"an older schema":          {file("older", sql(`UPDATE rota_meta SET value = '3' WHERE key = 'version'`)), rota.Conflict, "schema version 3"},
		"a broken position":        {file("position", sql(`UPDATE rota_meta SET value = '7 x' WHERE key = 'replica'`)), rota.Internal, "position in the log cannot be read"},
		"a missing index":          {file("index", sql(`DROP TABLE rota_throttle`)), rota.Internal, ""},
		"a cut file":               {file("cut", write(func(b []byte) []byte { return b[:len(b)/2] })), rota.Internal, "damaged"},
		"a file cut within a page": {file("cut2", write(func(b []byte) []byte { return b[:len(b)-1000] })), rota.Internal, "damaged"},
		"a damaged page": {file("damaged", write(func(b []byte) []byte {
			for at := 4096 * 20; at < 4096*40; at++ {
				b[at] = byte(rand.IntN(256))
			}
			return b
		})), rota.Internal, "damaged"},
		"a directory": {t.TempDir(), rota.Unavailable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			wake, end := r.Wake()
			defer end()
			checkError(t, r.Replace(t.Context(), c.path), c.code, c.text)
			select {
			case <-wake:
				t.Error("a refused replacement woke workers")
			default:
			}
			wantSame(t, r, twin)
			e := entry(r.Applied().Index+1, noon, enqueue(rota.NewJob{Type: "mail"}), claim(2))
			applyAt(t, r, e)
			applyAt(t, twin, e)
		})
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Replace(cancelled, good); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	wantSame(t, r, twin)
	must(t, r.Replace(t.Context(), good))
	must(t, r.Close())
	checkError(t, r.Replace(t.Context(), good), rota.Unavailable, "the store is closed")
}

// TestReplaceKeepsPartOfEntry replaces a replica by the copy of one that has applied part of an entry.
func TestReplaceKeepsPartOfEntry(t *testing.T) {
	failing := false
	r := openReplicaAt(t, filepath.Join(sqlitetest.MemoryDir(t), "replica.db"), Config{injectFault: func(int) error {
		if failing {
			return errCrash
		}
		return nil
	}})
	poisonJobs(t, r.path)
	e := entry(1, noon, enqueue(rota.NewJob{Type: "mail"}), enqueue(rota.NewJob{Type: poison}), claim(1))
	stop := r.Watch(func([]rota.Event) { failing = true })
	if _, err := r.ApplyAt(t.Context(), e); !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
	stop()
	path := copyReplica(t, r)
	target := divergedReplica(t, "other", 3)
	must(t, target.Replace(t.Context(), path))
	failing = false
	applyAt(t, target, e)
	applyAt(t, r, e)
	wantSame(t, target, r)
}

// TestSyncedEntriesAreInTheFile looks at the main file alone, without SQLite's log.
func TestSyncedEntriesAreInTheFile(t *testing.T) {
	dir := sqlitetest.MemoryDir(t)
	must(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	link := filepath.Join(dir, "link.db")
	must(t, os.Symlink(filepath.Join(dir, "real", "replica.db"), link))
	must(t, os.WriteFile(filepath.Join(dir, "real", "replica.db"), nil, 0o600))
	r := openReplicaAt(t, link, Config{})
	for i := range uint64(20) {
		applyAt(t, r, entry(i+1, noon, enqueue(rota.NewJob{Type: "mail"})))
	}
	must(t, r.Sync(t.Context()))
	want, text := r.Applied(), rowsOf(t, r)
	wantAt(t, reopenReplica(t, copyFile(t, link)), want, text)
	v, err := r.View(t.Context()) // keeps SQLite from writing its log back completely
	must(t, err)
	for i := range uint64(20) {
		applyAt(t, r, entry(i+21, noon, enqueue(rota.NewJob{Type: "mail"})))
	}
	must(t, r.Sync(t.Context()))
	applyAt(t, r, entry(41, noon, enqueue(rota.NewJob{Type: "mail"})))
	must(t, v.Close())
	if got := reopenReplica(t, copyFiles(t, filepath.Join(dir, "real", "replica.db"))); got.Applied() != r.Applied() {
		t.Errorf("reopened at %+v, want %+v", got.Applied(), r.Applied())
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Sync(cancelled); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	must(t, r.Close())
	checkError(t, r.Sync(t.Context()), rota.Unavailable, "the store is closed")
}

// TestBackupOfReplicaIsStoreOfItsOwn opens a backup as a store, and a copy as a replica.
func TestBackupOfReplicaIsStoreOfItsOwn(t *testing.T) {
	caughtUp := 0
	r := openReplicaAt(t, filepath.Join(sqlitetest.MemoryDir(t), "replica.db"), Config{CatchUp: func(context.Context) error {
		caughtUp++
		return nil
	}})
	for _, e := range randomEntries(t, 51, 60) {
		applyAt(t, r, e)
	}
	backup := filepath.Join(sqlitetest.MemoryDir(t), "backup.db")
	progress := false
	caughtUp = 0
	must(t, r.Backup(t.Context(), backup, func(done, total int64) { progress = done <= total }))
	if !progress || caughtUp != 1 {
		t.Errorf("progress %t, caught up %d times", progress, caughtUp)
	}
	checkOnlyFile(t, backup)
	caughtUp = 0
	path := copyReplica(t, r)
	if caughtUp != 0 {
		t.Error("Copy catches up with the log, which may wait for it")
	}
	_, err := Open(path)
	checkError(t, err, rota.Conflict, "is the replica of a store with a log")
	wantSame(t, reopenReplica(t, path), r)
	want := dump(t, r)
	for _, config := range []Config{{Logger: quiet, ReadOnly: true}, {Logger: quiet}} {
		s, err := OpenWith(backup, config)
		must(t, err)
		if got := dump(t, rota.Store(unlisted{s})); got != want {
			t.Error("the backup has another content")
		}
		verifyClean(t, s)
		if !config.ReadOnly {
			apply(t, s, at(time.Hour, enqueue(rota.NewJob{Type: "mail"})))
		}
		must(t, s.Close())
	}
	_, err = OpenReplica(backup, Config{Logger: quiet})
	checkError(t, err, rota.Conflict, "holds a store that is no replica")
	for name, write := range map[string]func(path string) error{
		"copy":   func(path string) error { return r.Copy(t.Context(), path) },
		"backup": func(path string) error { return r.Backup(t.Context(), path, nil) },
	} {
		checkError(t, write(backup), rota.Conflict, "already exists", "never replaces")
		checkError(t, write(""), rota.Invalid, "is empty")
		checkError(t, write(filepath.Join(t.TempDir(), "none", name)), rota.Unavailable, "cannot be written")
	}
}

// unlisted hides the type of a store from dump, which lists more rows of a *Store.
type unlisted struct{ rota.Store }

func TestInterruptedCopyLeavesNothing(t *testing.T) {
	r := divergedReplica(t, "log", 3)
	dir := t.TempDir()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range []error{r.Copy(cancelled, filepath.Join(dir, "a")), r.Backup(cancelled, filepath.Join(dir, "b"), nil)} {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	must(t, r.Close())
	checkError(t, r.Copy(t.Context(), filepath.Join(dir, "a")), rota.Unavailable, "the store is closed")
	checkError(t, r.Backup(t.Context(), filepath.Join(dir, "b"), nil), rota.Unavailable, "the store is closed")
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

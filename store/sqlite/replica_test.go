package sqlite

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite/sqlitetest"
	"github.com/rotajobs/rota/store/storetest"
)

// loggedReplica appends each batch that Apply gets to a log, and applies it. The random loads and the
// scenarios of stores run on it.
type loggedReplica struct {
	*Replica
	entries []rota.LogEntry
}

func (l *loggedReplica) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	e := entry(l.Applied().Index+1, b.Now, b.Commands...)
	l.entries = append(l.entries, e)
	return l.ApplyAt(ctx, e)
}

func entry(index uint64, now time.Time, commands ...rota.Command) rota.LogEntry {
	return rota.LogEntry{Log: "log", Index: index, Stamped: true, Batch: rota.Batch{Now: now, Commands: commands}}
}

func openReplicaAt(t testing.TB, path string, config Config) *Replica {
	t.Helper()
	config.Logger = quiet
	r, err := OpenReplica(path, config)
	must(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func openReplica(t testing.TB) *Replica {
	t.Helper()
	return openReplicaAt(t, filepath.Join(sqlitetest.MemoryDir(t), "replica.db"), Config{})
}

func applyAt(t testing.TB, r *Replica, e rota.LogEntry) []rota.Result {
	t.Helper()
	results, err := r.ApplyAt(context.Background(), e)
	must(t, err)
	return results
}

// randomEntries returns a log of random commands, one command an entry.
func randomEntries(t testing.TB, seed uint64, steps int) []rota.LogEntry {
	t.Helper()
	l := &loggedReplica{Replica: openReplica(t)}
	(&relatedLoad{randomLoad: newRandomLoad(t, l, seed)}).run(steps)
	must(t, l.Close())
	return l.entries
}

// poison is a type of jobs that a trigger of poisonJobs refuses.
const poison = "poison"

func poisonJobs(t testing.TB, path string) {
	t.Helper()
	conn := rawConn(t, path)
	execute(t, conn, `CREATE TRIGGER poison BEFORE INSERT ON rota_jobs WHEN NEW.type = '`+poison+`' BEGIN SELECT RAISE(ABORT, 'poison'); END`)
	must(t, conn.Close())
}

// poisoned joins the commands of a log to larger entries. A database with the trigger of poisonJobs refuses
// some commands of most entries, so their batches are split.
func poisoned(entries []rota.LogEntry, seed uint64) (joined []rota.LogEntry) {
	random := rand.New(rand.NewPCG(seed, 2))
	for len(entries) > 0 {
		n := min(1+random.IntN(9), len(entries))
		var commands []rota.Command
		for _, e := range entries[:n] {
			commands = append(commands, e.Batch.Commands...)
			if random.IntN(5) == 0 {
				commands = append(commands, enqueue(rota.NewJob{Type: poison}))
			}
		}
		joined = append(joined, entry(uint64(len(joined)+1), entries[n-1].Batch.Now, commands...))
		entries = entries[n:]
	}
	return joined
}

// rowsOf is what a replica holds. Two replicas that have applied the same entries are equal in it.
func rowsOf(t testing.TB, r *Replica) string {
	t.Helper()
	text, err := storetest.Dump(context.Background(), r)
	must(t, err)
	conn := rawConn(t, r.path)
	for line := range strings.Lines(tables(t, conn)) {
		switch table, _, _ := strings.Cut(line, " "); table {
		case "rota_meta", "rota_audit_seals": // a batch that is split has more seals of fewer entries
		default:
			text += line
		}
	}
	must(t, conn.Close())
	page, err := r.SealedAudit(context.Background(), 0, 1<<20)
	must(t, err)
	for _, e := range page {
		text += fmt.Sprintln(e.Seq, e.ID, e.Hash)
	}
	return text
}

func wantAt(t testing.TB, r *Replica, position rota.LogPosition, want string) {
	t.Helper()
	if got := r.Applied(); got != position {
		t.Fatalf("the replica is at %+v, want %+v", got, position)
	}
	if got := rowsOf(t, r); got != want {
		t.Fatalf("the replica differs:\n%s\nwant:\n%s", got, want)
	}
}

func wantSame(t testing.TB, r, want *Replica) {
	t.Helper()
	wantAt(t, r, want.Applied(), rowsOf(t, want))
}

// undisturbed applies a log to a replica, and returns its position and its contents after each entry.
func undisturbed(t testing.TB, r *Replica, entries []rota.LogEntry) (positions []rota.LogPosition, texts []string) {
	t.Helper()
	for _, e := range entries {
		applyAt(t, r, e)
		positions, texts = append(positions, r.Applied()), append(texts, rowsOf(t, r))
	}
	verifyAudit(t, r)
	return positions, texts
}

func verifyAudit(t testing.TB, r *Replica) {
	t.Helper()
	report, err := r.VerifyAudit(context.Background(), rota.AuditTrust{})
	must(t, err)
	if report.Fault != nil {
		t.Error(report.Fault)
	}
}

var errCrash = errors.New("the process ends here")

// TestCrashWithinEntryContinuesIt ends the process at each statement that an entry writes, between the halves
// of a split batch too. The next process gets the same entry again.
func TestCrashWithinEntryContinuesIt(t *testing.T) {
	entries := poisoned(randomEntries(t, 1, 70), 1)
	r := openReplica(t)
	poisonJobs(t, r.path)
	positions, texts := undisturbed(t, r, entries)
	steps, split, random := 1, 0, rand.New(rand.NewPCG(3, 3))
	if testing.Short() {
		steps = 9
	}
	base := openReplica(t)
	poisonJobs(t, base.path)
	for i, e := range entries {
		if i >= 3 {
			steps = 9 // a sample
		}
		files := copyFiles(t, base.path)
		for at := 1 + random.IntN(steps); ; at += 1 + random.IntN(steps) {
			crashed, partly := crashAt(t, files, e, at)
			if crashed == "" {
				break
			}
			if partly {
				split++
			}
			again := openReplicaAt(t, crashed, Config{})
			if i > 0 && again.Applied() != positions[i-1] {
				t.Fatalf("entry %d, statement %d: the replica is at %+v, want %+v", e.Index, at, again.Applied(), positions[i-1])
			}
			wantLost(t, e, applyAt(t, again, e), partly)
			wantAt(t, again, positions[i], texts[i])
			must(t, again.Close())
			must(t, os.RemoveAll(filepath.Dir(crashed)))
		}
		must(t, os.RemoveAll(filepath.Dir(files)))
		applyAt(t, base, e)
	}
	wantSame(t, base, r)
	if split < 10 {
		t.Errorf("only %d crashes left part of an entry", split)
	}
}

// crashAt applies an entry to a copy of some files, and returns the files as they are before a statement. They
// are empty if there are fewer statements.
func crashAt(t testing.TB, files string, e rota.LogEntry, statement int) (crashed string, partly bool) {
	t.Helper()
	path := copyFiles(t, files)
	defer os.RemoveAll(filepath.Dir(path))
	armed, seen := false, 0
	r := openReplicaAt(t, path, Config{injectFault: func(int) error {
		if seen++; armed && seen == statement {
			crashed = copyFiles(t, path)
			return errCrash
		}
		return nil
	}})
	defer r.Close()
	armed, seen = true, 0
	_, err := r.ApplyAt(t.Context(), e)
	if crashed != "" && !errors.Is(err, errCrash) || crashed == "" && err != nil {
		t.Fatalf("entry %d, statement %d: %v", e.Index, statement, err)
	}
	w := <-r.writer
	partly = w.replica.done > 0
	r.writer <- w
	return crashed, partly
}

// wantLost checks that the first commands of an entry have lost their answers, and the others have not.
func wantLost(t testing.TB, e rota.LogEntry, results []rota.Result, partly bool) {
	t.Helper()
	if len(results) != len(e.Batch.Commands) {
		t.Fatalf("%d results of %d commands", len(results), len(e.Batch.Commands))
	}
	lost := slices.IndexFunc(results, func(r rota.Result) bool { return r.Err == nil || r.Err.Code != rota.Unavailable })
	if partly != (lost != 0) {
		t.Errorf("entry %d: %d answers were lost; partly applied: %t", e.Index, lost, partly)
	}
}

// TestFailedEntryIsAppliedAgain lets statements fail at random. The same process repeats the entry until it
// succeeds, sometimes after a restart.
func TestFailedEntryIsAppliedAgain(t *testing.T) {
	for seed := range uint64(2) {
		entries := poisoned(randomEntries(t, 10+seed, 100), seed)
		r := openReplica(t)
		poisonJobs(t, r.path)
		random := rand.New(rand.NewPCG(seed, 9))
		armed, failures := false, 0
		config := Config{injectFault: func(int) error {
			if armed && random.IntN(20) == 0 {
				failures++
				return errCrash
			}
			return nil
		}}
		d := openReplicaAt(t, filepath.Join(sqlitetest.MemoryDir(t), "replica.db"), config)
		poisonJobs(t, d.path)
		for _, e := range entries {
			applyAt(t, r, e)
			armed = true
			for tries := 0; ; tries++ {
				_, err := d.ApplyAt(t.Context(), e)
				if err == nil {
					break
				}
				if !errors.Is(err, errCrash) {
					t.Fatal(err)
				}
				if d.Applied().Index != e.Index-1 {
					t.Fatalf("entry %d counts as applied after it failed: %+v", e.Index, d.Applied())
				}
				if random.IntN(3) == 0 {
					files := copyFiles(t, d.path)
					must(t, d.Close())
					armed = false
					d = openReplicaAt(t, files, config)
				}
				armed = tries < 20
			}
			armed = false
			if d.Applied() != r.Applied() {
				t.Fatalf("entry %d: the replica is at %+v, want %+v", e.Index, d.Applied(), r.Applied())
			}
		}
		wantSame(t, d, r)
		verifyAudit(t, d)
		if failures < 10 {
			t.Errorf("only %d statements failed", failures)
		}
	}
}

// TestEveryVerbIsAppliedAlike applies the scenario of each verb to two replicas, one of which is opened again
// before each entry and does without what is cached.
func TestEveryVerbIsAppliedAlike(t *testing.T) {
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			l := &loggedReplica{Replica: openReplica(t)}
			batch := sc.prepare(t, l)
			apply(t, l, batch)
			r := openReplica(t)
			for _, e := range l.entries {
				must(t, r.Close())
				r = openReplicaAt(t, r.path, Config{})
				applyAt(t, r, e)
			}
			wantSame(t, r, l.Replica)
			verifyClean(t, r)
		})
	}
}

// TestLogOfSQLiteCutAnywhereContinues cuts the -wal file as a power cut does, since it is not synced.
func TestLogOfSQLiteCutAnywhereContinues(t *testing.T) {
	entries := poisoned(randomEntries(t, 5, 120), 5)
	r := openReplica(t)
	poisonJobs(t, r.path)
	half := len(entries) / 3
	for _, e := range entries[:half] {
		applyAt(t, r, e)
	}
	must(t, r.Sync(t.Context()))
	for _, e := range entries[half:] {
		applyAt(t, r, e)
	}
	want, random := rowsOf(t, r), rand.New(rand.NewPCG(5, 5))
	reached := map[uint64]bool{}
	for range 20 {
		path := copyFiles(t, r.path)
		info, err := os.Stat(path + "-wal")
		must(t, err)
		must(t, os.Truncate(path+"-wal", random.Int64N(info.Size()+1)))
		cut := openReplicaAt(t, path, Config{})
		from := cut.Applied().Index
		reached[from] = true
		for _, e := range entries[from:] {
			applyAt(t, cut, e)
		}
		wantAt(t, cut, r.Applied(), want)
		must(t, cut.Close())
	}
	if len(reached) < 5 {
		t.Errorf("all cuts continue from %v", reached)
	}
}

func TestReplicaRefusesOtherEntries(t *testing.T) {
	r := openReplica(t)
	poisonJobs(t, r.path)
	first := entry(1, noon, enqueue(rota.NewJob{Type: "mail"}), enqueue(rota.NewJob{Type: poison}))
	noLog := first
	noLog.Log = ""
	_, err := r.ApplyAt(t.Context(), noLog)
	checkError(t, err, rota.Internal, "entry 1 names no log")
	applyAt(t, r, first)
	before, position := rowsOf(t, r), r.Applied()
	other := entry(2, noon, enqueue(rota.NewJob{Type: "mail"}))
	other.Log = "other"
	for _, c := range []struct {
		e    rota.LogEntry
		code rota.Code
		text string
	}{
		{other, rota.Conflict, "holds the log log, and the entry is of other"},
		{first, rota.Conflict, "has applied entry 1, and got entry 1"},
		{entry(0, noon), rota.Conflict, "has applied entry 1, and got entry 0"},
		{entry(3, noon), rota.Conflict, "has applied entry 1, and got entry 3"},
		{entry(2, time.Time{}), rota.Internal, "entry 2 has no time"},
	} {
		_, err := r.ApplyAt(t.Context(), c.e)
		checkError(t, err, c.code, c.text)
		wantAt(t, r, position, before)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.ApplyAt(cancelled, entry(2, noon)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	must(t, r.Close())
	_, err = r.ApplyAt(t.Context(), entry(2, noon))
	checkError(t, err, rota.Unavailable, "the store is closed")
	r = openReplicaAt(t, r.path, Config{})
	wantAt(t, r, position, before)
	applyAt(t, r, entry(2, noon, enqueue(rota.NewJob{Type: "mail"})))
}

func TestReplicaRefusesShorterEntryThanIsApplied(t *testing.T) {
	r := openReplica(t)
	w := <-r.writer
	w.replica.Log, w.replica.done = "log", 2
	r.writer <- w
	_, err := r.ApplyAt(t.Context(), entry(1, noon, enqueue(rota.NewJob{Type: "mail"})))
	checkError(t, err, rota.Conflict, "entry 1 has fewer commands than were applied of it")
}

func TestStoreOfAnotherKindIsRefused(t *testing.T) {
	for name, fill := range map[string]func(s *Store){
		"a job":       func(s *Store) { apply(t, s, at(0, enqueue(rota.NewJob{Type: "mail"}))) },
		"definitions": func(s *Store) { apply(t, s, at(0, &rota.PutType{Meta: rota.NewMeta("ada"), Name: "mail"})) },
		"a pruned audit": func(s *Store) {
			apply(t, s, at(0, &rota.PutThrottle{Meta: rota.NewMeta("ada"), Spec: rota.ThrottleSpec{Global: 7}}))
			if n, err := s.PruneAudit(t.Context(), noon.Add(time.Hour), 10, nil); n != 1 || err != nil {
				t.Fatal(n, err)
			}
			conn := rawConn(t, s.path)
			execute(t, conn, `DELETE FROM rota_throttle`)
			must(t, conn.Close())
		},
	} {
		s := openTest(t, Config{})
		fill(s)
		before := dump(t, s)
		must(t, s.Close())
		for _, config := range []Config{{Logger: quiet}, {Logger: quiet, ReadOnly: true}} {
			r, err := OpenReplica(s.path, config)
			if err == nil {
				_ = r.Close()
			}
			checkError(t, err, rota.Conflict, "holds a store that is no replica of a log", "rota copy")
		}
		if got := reopenAndDump(t, s.path); got != before {
			t.Errorf("%s: the refused store has changed", name)
		}
	}
}

func TestOpenRefusesReplicaUnlessReadOnly(t *testing.T) {
	for _, e := range [][]rota.LogEntry{nil, {entry(1, noon, enqueue(rota.NewJob{Type: "mail"}))}} {
		r := openReplica(t)
		for _, e := range e {
			applyAt(t, r, e)
		}
		want := rowsOf(t, r)
		position := r.Applied()
		must(t, r.Close())
		_, err := Open(r.path)
		checkError(t, err, rota.Conflict, "is the replica of a store with a log", "ReadOnly")
		_, err = OpenTransferTarget(r.path, TransferConfig{})
		checkError(t, err, rota.Conflict, "is the replica of a store with a log")
		s, err := OpenWith(r.path, Config{ReadOnly: true})
		must(t, err)
		if _, err := s.CountJobs(t.Context(), rota.JobQuery{}); err != nil {
			t.Error(err)
		}
		must(t, s.Close())
		readOnly := openReplicaAt(t, r.path, Config{ReadOnly: true})
		wantAt(t, readOnly, position, want)
		checkReadOnly(t, readOnly)
		wantAt(t, readOnly, position, want)
	}
}

// checkReadOnly checks that a replica that is open for reading refuses to write.
func checkReadOnly(t *testing.T, r *Replica) {
	t.Helper()
	other := openReplica(t)
	applyAt(t, other, entry(1, noon, enqueue(rota.NewJob{Type: "web"})))
	file := filepath.Join(sqlitetest.MemoryDir(t), "copy.db")
	must(t, other.Copy(t.Context(), file))
	_, applying := r.ApplyAt(t.Context(), entry(r.Applied().Index+1, noon, enqueue(rota.NewJob{Type: "mail"})))
	_, _, trying := r.Try(t.Context(), at(0, claim(1)))
	for _, err := range []error{applying, trying, r.Replace(t.Context(), file), r.Sync(t.Context())} {
		checkError(t, err, rota.Conflict, "open read-only", "without ReadOnly")
	}
	if p, err := r.FindPrune(t.Context(), noon.Add(time.Hour), 1, nil); p != nil || err != nil {
		t.Errorf("FindPrune returned %v, %v", p, err)
	}
	must(t, r.Copy(t.Context(), file+"2"))
}

func TestUnreadablePositionIsRefused(t *testing.T) {
	r := openReplica(t)
	applyAt(t, r, entry(1, noon, enqueue(rota.NewJob{Type: "mail"})))
	must(t, r.Close())
	conn := rawConn(t, r.path)
	good := column(t, conn, `SELECT value FROM rota_meta WHERE key = 'replica'`)[0]
	parts := strings.SplitN(good, " ", 6)
	with := func(n int, part string) string {
		changed := slices.Clone(parts)
		changed[n] = part
		return strings.Join(changed, " ")
	}
	for _, text := range []string{
		"x", "1", strings.Join(parts[:5], " "), good[1:], with(0, "-1"), with(0, "+1"), with(0, "01"), with(0, ""), with(0, "99999999999999999999999"),
		with(1, "-1"), with(1, "x"), with(1, "1.5"), with(2, "noon"), with(3, parts[3][2:]), with(3, parts[3]+"00"), with(3, parts[3][1:]),
		with(3, strings.ToUpper("abcdef")+parts[3][6:]), with(4, "g"+parts[4][1:]), with(4, parts[4]+"0"), with(5, ""), with(0, "0x1"), "  " + good,
	} {
		execute(t, conn, `UPDATE rota_meta SET value = '`+text+`' WHERE key = 'replica'`)
		for _, config := range []Config{{Logger: quiet}, {Logger: quiet, ReadOnly: true}} {
			_, err := OpenReplica(r.path, config)
			checkError(t, err, rota.Internal, "position in the log cannot be read", text, "delete the file")
		}
	}
	execute(t, conn, `UPDATE rota_meta SET value = '`+good+`' WHERE key = 'replica'`)
	must(t, conn.Close())
	openReplicaAt(t, r.path, Config{})
}

func FuzzReplicaPosition(f *testing.F) {
	m := replicaState{LogPosition: rota.LogPosition{Log: "a log", Index: 7, Now: noon, Digest: sha256.Sum256(nil)}, done: 3}
	f.Add(m.encode())
	f.Add("0 0 0 00 00 ")
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := decodeReplicaState(text); err == nil && m.encode() != text {
			t.Errorf("%q is read as %q", text, m.encode())
		}
	})
}

// TestMissingPositionStopsReplica deletes the row of the position of a replica in use.
func TestMissingPositionStopsReplica(t *testing.T) {
	r := openReplica(t)
	applyAt(t, r, entry(1, noon, enqueue(rota.NewJob{Type: "mail"})))
	before, position := rowsOf(t, r), r.Applied()
	conn := rawConn(t, r.path)
	execute(t, conn, `DELETE FROM rota_meta WHERE key = 'replica'`)
	must(t, conn.Close())
	_, err := r.ApplyAt(t.Context(), entry(2, noon, enqueue(rota.NewJob{Type: "mail"})))
	checkError(t, err, rota.Internal, "position in the log cannot be read")
	wantAt(t, r, position, before)
}

func TestReplicaRefusesCommandsOfItsOwn(t *testing.T) {
	r := openReplica(t)
	applyAt(t, r, entry(1, noon, &rota.PutThrottle{Meta: rota.NewMeta("ada"), Spec: rota.ThrottleSpec{Global: 7}}))
	before, position := rowsOf(t, r), r.Applied()
	batch := at(0, enqueue(rota.NewJob{Type: "mail"}))
	_, err := r.Apply(t.Context(), batch)
	checkError(t, err, rota.Conflict, "apply", "only the entries of its log change", "store that has the log")
	tx := beginTx(t, openCaller(t, r.Store, ""))
	_, _, err = rota.ApplyTx(t.Context(), r, tx, batch)
	checkError(t, err, rota.Conflict, "apply in a transaction", "only the entries of its log change")
	must(t, tx.Rollback())
	n, err := r.PruneAudit(t.Context(), noon.Add(time.Hour), 10, nil)
	checkError(t, err, rota.Conflict, "prune audit", "only the entries of its log change")
	if n != 0 {
		t.Errorf("%d entries were removed", n)
	}
	for range 2 {
		if n, err := r.SealAudit(t.Context(), 10); n != 0 || err != nil {
			t.Errorf("sealed %d, %v", n, err)
		}
	}
	wantAt(t, r, position, before)
}

// TestEntryWithoutCommandsMovesPosition applies entries that change no row.
func TestEntryWithoutCommandsMovesPosition(t *testing.T) {
	r := openReplica(t)
	applyAt(t, r, entry(1, noon))
	earlier := entry(2, noon.Add(-time.Hour), &rota.Reap{Meta: rota.NewMeta("")})
	applyAt(t, r, earlier)
	refused := entry(3, noon.Add(123), &rota.Cancel{Meta: rota.NewMeta("ada"), JobID: rota.NewID()})
	if code := applyAt(t, r, refused)[0].Err.Code; code != rota.NotFound {
		t.Errorf("refused with %s", code)
	}
	if p := r.Applied(); p.Index != 3 || !p.Now.Equal(noon) || p.Digest == [32]byte{} || p.Log != "log" {
		t.Errorf("the replica is at %+v", p)
	}
	later := entry(4, noon.Add(time.Hour))
	later.Stamped = false
	applyAt(t, r, later)
	position := r.Applied()
	if !position.Now.Equal(noon) {
		t.Errorf("a time of a caller counts: %s", position.Now)
	}
	must(t, r.Close())
	if got := openReplicaAt(t, r.path, Config{}).Applied(); got != position {
		t.Errorf("reopened at %+v, want %+v", got, position)
	}
}

func TestTryFindsChangesAndWritesNothing(t *testing.T) {
	r, twin := openReplica(t), openReplica(t)
	both := func(e rota.LogEntry) []rota.Result {
		applyAt(t, twin, e)
		return applyAt(t, r, e)
	}
	put := &rota.PutThrottle{Meta: rota.NewMeta("ada"), Spec: rota.ThrottleSpec{Global: 7}}
	jobs := []rota.NewJob{{Type: "mail"}, {Type: "mail", Delay: time.Minute}, {Type: "mail"}}
	queued := both(entry(1, noon, put, enqueue(jobs...)))[1].Reply.(*rota.Enqueued).Jobs
	running := both(entry(2, noon, claim(1)))[0].Reply.(*rota.Claimed).Jobs[0]
	unknown := queued[0].Job.ID
	unknown[15]++
	idle := claim(3)
	idle.Types = []string{"idle"}
	dry := enqueue(rota.NewJob{Type: "mail"})
	for _, c := range []struct {
		name    string
		command rota.Command
		at      time.Duration
		changes bool
	}{
		{"claim of a job", claim(1), time.Second, true},
		{"claim of another type", idle, time.Second, false},
		{"enqueue", dry, time.Second, true},
		{"finish", finish(running, rota.OutcomeCompleted), time.Second, true},
		{"extend", &rota.Extend{Meta: rota.NewMeta(""), Lease: time.Minute, Items: []rota.ExtendItem{{LeaseRef: lease(running)}}}, time.Second, true},
		{"ready that moves a job", &rota.Ready{Meta: rota.NewMeta("")}, time.Hour, true},
		{"ready without work", &rota.Ready{Meta: rota.NewMeta("")}, time.Second, false},
		{"reap of a stale run", &rota.Reap{Meta: rota.NewMeta("")}, time.Hour, true},
		{"reap without work", &rota.Reap{Meta: rota.NewMeta("")}, time.Second, false},
		{"put limits", &rota.PutThrottle{Meta: rota.NewMeta("ada"), Spec: rota.ThrottleSpec{Global: 1}}, time.Second, true},
		{"put webhooks", &rota.PutWebhooks{Meta: rota.NewMeta("ada"), Spec: []rota.Webhook{{URL: "https://example.org", Events: []rota.EventKind{rota.EventJobStarted}}}}, time.Second, true},
		{"refused cancel", &rota.Cancel{Meta: rota.NewMeta("ada"), JobID: unknown}, time.Second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, position := rowsOf(t, r), r.Applied()
			wake, end := r.Wake()
			defer end()
			defer r.Watch(func(events []rota.Event) { t.Errorf("published %v", events) })()
			for range 2 {
				results, changes, err := r.Try(t.Context(), at(c.at, c.command))
				must(t, err)
				if changes != c.changes || !changes && len(results) != 1 {
					t.Errorf("changes %t, %d results", changes, len(results))
				}
			}
			select {
			case <-wake:
				t.Error("Try woke workers")
			default:
			}
			wantAt(t, r, position, before)
		})
	}
	_, _, err := r.Try(t.Context(), rota.Batch{Commands: []rota.Command{claim(1)}})
	checkError(t, err, rota.Internal, "the batch has no time")
	both(entry(3, noon.Add(2*time.Second), claim(2), finish(running, rota.OutcomeFailed), &rota.Ready{Meta: rota.NewMeta("")}))
	wantSame(t, r, twin)
}

// TestTryPoisonsNoCache tries each entry of a random log, and other commands, before it applies it.
func TestTryPoisonsNoCache(t *testing.T) {
	entries := randomEntries(t, 21, 300)
	r, twin := openReplica(t), openReplica(t)
	random := rand.New(rand.NewPCG(4, 4))
	unchanged := 0
	for i, e := range entries {
		for _, other := range []rota.Batch{e.Batch, entries[random.IntN(len(entries))].Batch, at(time.Hour, claim(5))} {
			_, changes, err := r.Try(t.Context(), rota.Batch{Now: e.Batch.Now, Commands: other.Commands})
			must(t, err)
			if !changes {
				unchanged++
			}
		}
		a, b := applyAt(t, r, e), applyAt(t, twin, e)
		if fmt.Sprintf("%+v", a[0].Err) != fmt.Sprintf("%+v", b[0].Err) || r.Applied() != twin.Applied() {
			t.Fatalf("entry %d: answered with %+v, want %+v", i+1, a, b)
		}
	}
	if unchanged < 50 {
		t.Errorf("only %d tries changed nothing", unchanged)
	}
	wantSame(t, r, twin)
}

// auditedReplicas returns replicas with the same five entries of the audit.
func auditedReplicas(t testing.TB, n int) []*Replica {
	t.Helper()
	replicas := make([]*Replica, n)
	for i := range replicas {
		replicas[i] = openReplica(t)
	}
	for i := range 5 {
		e := entry(uint64(i+1), noon.Add(time.Duration(i)*time.Minute), &rota.PutThrottle{Meta: rota.NewMeta("ada"), Spec: rota.ThrottleSpec{Global: i + 1}})
		for _, r := range replicas {
			applyAt(t, r, e)
		}
	}
	return replicas
}

func signAnchor(_ rota.AuditAnchor, next *rota.AuditAnchor) error {
	next.Sign(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize)))
	return nil
}

func pruneEntry(index uint64, prune *rota.AuditPrune, commands ...rota.Command) rota.LogEntry {
	e := entry(index, noon.Add(time.Hour), commands...)
	e.Prune = prune
	return e
}

func anchorOf(t testing.TB, r *Replica) rota.AuditAnchor {
	t.Helper()
	state, err := r.AuditState(t.Context())
	must(t, err)
	return state.Anchor
}

func TestEntryPrunesAuditOfAllReplicas(t *testing.T) {
	replicas := auditedReplicas(t, 2)
	a, b := replicas[0], replicas[1]
	before := rowsOf(t, a)
	none, err := a.FindPrune(t.Context(), noon, 10, signAnchor)
	if none != nil || err != nil {
		t.Errorf("found %v, %v", none, err)
	}
	refusal := errors.New("not believed")
	if _, err := a.FindPrune(t.Context(), noon.Add(time.Hour), 10, func(rota.AuditAnchor, *rota.AuditAnchor) error { return refusal }); !errors.Is(err, refusal) {
		t.Error(err)
	}
	prune, err := a.FindPrune(t.Context(), noon.Add(150*time.Second), 2, signAnchor)
	must(t, err)
	wantAt(t, a, b.Applied(), before)
	for _, r := range replicas {
		applyAt(t, r, pruneEntry(6, prune))
		anchor := anchorOf(t, r)
		if anchor.Seq != 2 || anchor.AuditPoint != prune.Anchor.AuditPoint || !anchor.RemovedBefore.Equal(prune.Anchor.RemovedBefore) ||
			!bytes.Equal(anchor.Key, prune.Anchor.Key) || !bytes.Equal(anchor.Signature, prune.Anchor.Signature) {
			t.Errorf("the anchor is %+v, want %+v", anchor, prune.Anchor)
		}
		verifyAudit(t, r)
	}
	wantSame(t, a, b)
	wrong := &rota.AuditPrune{After: 2, Anchor: prune.Anchor}
	wrong.Anchor.Seq = 4
	for i, stale := range []*rota.AuditPrune{prune, {After: 3, Anchor: prune.Anchor}, {After: 2, Anchor: prune.Anchor}, wrong} {
		before := rowsOf(t, a)
		for _, r := range replicas {
			applyAt(t, r, pruneEntry(uint64(7+i), stale))
		}
		if rowsOf(t, a) != before {
			t.Errorf("the prune %+v removed something", stale)
		}
	}
	wantSame(t, a, b)
	next, err := b.FindPrune(t.Context(), noon.Add(time.Hour), 10, nil)
	must(t, err)
	if next.After != 2 || next.Anchor.Seq != 5 {
		t.Errorf("found %+v", next)
	}
	for _, r := range replicas {
		results := applyAt(t, r, pruneEntry(11, next, &rota.PutThrottle{Meta: rota.Meta{ID: rota.DefinitionID("x"), Actor: "ada", RulesVersion: 1}, Spec: rota.ThrottleSpec{Global: 9}}))
		if len(results) != 1 || results[0].Err != nil || anchorOf(t, r).Seq != 5 {
			t.Errorf("answered with %+v, anchor %+v", results, anchorOf(t, r))
		}
		verifyAudit(t, r)
	}
	wantSame(t, a, b)
}

// TestTamperedAuditIsNotPruned changes the audit of one replica. The entry that prunes is applied there without the
// prune, and the other replica is pruned.
func TestTamperedAuditIsNotPruned(t *testing.T) {
	for name, statement := range map[string]string{
		"changed entry":         `UPDATE rota_audit SET actor = 'eve' WHERE :job <> ''`,
		"removed entry":         `DELETE FROM rota_audit WHERE at = (SELECT min(at) FROM rota_audit) AND :job <> ''`,
		"no anchor":             `DELETE FROM rota_audit_anchor WHERE :job <> ''`,
		"no seals":              `DELETE FROM rota_audit_seals WHERE :job <> ''`,
		"anchor that stays":     `CREATE TRIGGER skip BEFORE UPDATE ON rota_audit_anchor BEGIN SELECT RAISE(IGNORE); END`,
		"anchor of later times": `UPDATE rota_audit_anchor SET removed_before = 1 << 60 WHERE :job <> ''`,
	} {
		t.Run(name, func(t *testing.T) {
			replicas := auditedReplicas(t, 2)
			prune, err := replicas[0].FindPrune(t.Context(), noon.Add(time.Hour), 2, signAnchor)
			must(t, err)
			tampered := replicas[1]
			conn := rawConn(t, tampered.path)
			if strings.HasPrefix(statement, "CREATE") {
				execute(t, conn, statement)
			} else {
				sqlitetest.Damage(t, tampered.path, []string{statement}, rota.NewID())
			}
			before := column(t, conn, `SELECT quote(id) FROM rota_audit ORDER BY id`)
			job, run := enqueue(rota.NewJob{Type: "mail"}), claim(1)
			for _, r := range replicas {
				if results := applyAt(t, r, pruneEntry(6, prune, job)); len(results) != 1 || results[0].Err != nil {
					t.Errorf("answered with %+v", results)
				}
				applyAt(t, r, entry(7, noon.Add(2*time.Hour), run))
			}
			after := column(t, conn, `SELECT quote(id) FROM rota_audit ORDER BY id`)
			if !slices.Equal(after[:min(len(before), len(after))], before) {
				t.Errorf("the tampered audit was pruned: %d entries of %d are left", len(after), len(before))
			}
			if anchorOf(t, replicas[0]).Seq != 2 || replicas[0].Applied() != tampered.Applied() {
				t.Errorf("the replicas are at %+v and %+v", replicas[0].Applied(), tampered.Applied())
			}
		})
	}
}

// TestCrashBeforePruneContinuesIt ends the process at each statement of an entry with a command and a prune.
func TestCrashBeforePruneContinuesIt(t *testing.T) {
	replicas := auditedReplicas(t, 2)
	prune, err := replicas[0].FindPrune(t.Context(), noon.Add(time.Hour), 3, signAnchor)
	must(t, err)
	e := pruneEntry(6, prune, enqueue(rota.NewJob{Type: "mail"}), &rota.PutThrottle{Meta: rota.NewMeta("ada"), Spec: rota.ThrottleSpec{Global: 9}})
	files := copyFiles(t, replicas[1].path)
	applyAt(t, replicas[0], e)
	for statement := 1; ; statement++ {
		crashed, _ := crashAt(t, files, e, statement)
		if crashed == "" {
			if statement < 8 {
				t.Errorf("the entry has only %d statements", statement)
			}
			break
		}
		r := openReplicaAt(t, crashed, Config{})
		applyAt(t, r, e)
		wantSame(t, r, replicas[0])
		verifyAudit(t, r)
	}
}

// TestPositionWithinEntryIsThatOfLastEntry compares digests of replicas of which one has a part of an entry more.
func TestPositionWithinEntryIsThatOfLastEntry(t *testing.T) {
	failing := false
	r := openReplicaAt(t, filepath.Join(sqlitetest.MemoryDir(t), "replica.db"), Config{injectFault: func(int) error {
		if failing {
			return errCrash
		}
		return nil
	}})
	poisonJobs(t, r.path)
	applyAt(t, r, entry(1, noon, enqueue(rota.NewJob{Type: "mail"})))
	before := r.Applied()
	stop := r.Watch(func([]rota.Event) { failing = true }) // after the first part
	_, err := r.ApplyAt(t.Context(), entry(2, noon, enqueue(rota.NewJob{Type: "mail"}), enqueue(rota.NewJob{Type: poison}), claim(1)))
	stop()
	if !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
	if n, err := r.CountJobs(t.Context(), rota.JobQuery{}); n != 2 || err != nil {
		t.Fatalf("%d jobs, %v: no part of the entry was applied", n, err)
	}
	if r.Applied() != before {
		t.Errorf("the replica is at %+v, want %+v", r.Applied(), before)
	}
	copied := openReplicaAt(t, copyFiles(t, r.path), Config{})
	if copied.Applied() != before {
		t.Errorf("after a restart the replica is at %+v, want %+v", copied.Applied(), before)
	}
}

// TestReplicaOfKilledProcessOpensWithoutTheLog opens a copy of a replica that is in use, as a killed
// process leaves it. The check of its open jobs must not wait for the log, which waits for the replica.
func TestReplicaOfKilledProcessOpensWithoutTheLog(t *testing.T) {
	live := openReplica(t)
	applyAt(t, live, entry(1, time.Now().UTC(), &rota.Enqueue{Meta: rota.NewMeta("test"), Jobs: []rota.NewJob{{ID: rota.NewID(), Type: "noop"}}}))
	killed := copyFiles(t, live.path)
	open, caughtUp := false, 0
	again := openReplicaAt(t, killed, Config{CatchUp: func(context.Context) error {
		if caughtUp++; !open {
			t.Error("the replica catches up before it is open")
		}
		return nil
	}})
	open = true
	if again.Applied().Index != 1 {
		t.Errorf("the copy is at %+v", again.Applied())
	}
	_, err := again.Stats(context.Background())
	must(t, err)
	if caughtUp == 0 {
		t.Error("a read of the open replica does not catch up")
	}
}

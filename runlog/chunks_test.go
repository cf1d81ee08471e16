package runlog

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rotajobs/rota"
)

// newChunks returns logs in a store in memory, and what they log themselves.
func newChunks(limit int64) (*Chunks, *memoryStore, *bytes.Buffer) {
	store, server := &memoryStore{}, &bytes.Buffer{}
	return Store(store, Config{Max: limit, Logger: slog.New(slog.NewTextHandler(server, nil))}), store, server
}

// newJob returns a running job.
func newJob() *rota.Job {
	now := time.Now()
	return &rota.Job{ID: rota.NewID(), StartedAt: now, Run: &rota.Run{ID: rota.NewID(), StartedAt: now, Runner: "w"}}
}

// TestLinesOfAllRunsAreStoredTogetherAfterSecond: one append has the lines of all runs.
func TestLinesOfAllRunsAreStoredTogetherAfterSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs, store, _ := newChunks(1 << 20)
		jobs := []*rota.Job{newJob(), newJob(), newJob()}
		for i, job := range jobs {
			file := openLog(t, logs, job)
			write(t, file, "one\n")
			time.Sleep(100 * time.Millisecond)
			write(t, file, fmt.Sprintf("two of %d\n", i))
		}
		time.Sleep(time.Second - 301*time.Millisecond)
		synctest.Wait()
		if store.appends != 0 {
			t.Errorf("%d appends before the second is over", store.appends)
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if store.appends != 1 {
			t.Errorf("%d appends, want 1", store.appends)
		}
		for i, job := range jobs {
			if text, _ := store.stored(job); text != fmt.Sprintf("one\ntwo of %d\n", i) {
				t.Errorf("log %d is %q", i, text)
			}
		}
	})
}

// TestFlushStoresClosedLogsOnly: the lines of a run that continues wait for their own time.
func TestFlushStoresClosedLogsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs, store, _ := newChunks(1 << 20)
		ended, running := newJob(), newJob()
		file := openLog(t, logs, ended)
		write(t, file, "of the ended run\n")
		write(t, openLog(t, logs, running), "of the running run\n")
		logs.FlushLogs(t.Context())
		if store.appends != 0 {
			t.Error("a flush without an ended run has stored lines")
		}
		_ = file.Close()
		logs.FlushLogs(t.Context())
		if text, _ := store.stored(ended); text != "of the ended run\n" {
			t.Errorf("the ended run has %q", text)
		}
		if text, _ := store.stored(running); text != "" {
			t.Errorf("the running run has %q", text)
		}
		write(t, file, "of a handler that was given up\n")
		time.Sleep(2 * flushEvery)
		synctest.Wait()
		if text, _ := store.stored(ended); text != "of the ended run\n" {
			t.Errorf("text written after Close was stored: %q", text)
		}
		if len(logs.logs) != 0 || logs.unsent != 0 || logs.closedUnsent.Load() != 0 {
			t.Errorf("%d logs, %d bytes, %d closed logs are left", len(logs.logs), logs.unsent, logs.closedUnsent.Load())
		}
	})
}

// TestLargeLogIsStoredWithoutDelay: a log that has enough for a chunk does not wait for the second.
func TestLargeLogIsStoredWithoutDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs, store, _ := newChunks(1 << 20)
		job := newJob()
		long := strings.Repeat("a line of a log\n", 2*chunkMax/16)
		write(t, openLog(t, logs, job), long)
		synctest.Wait()
		if text, _ := store.stored(job); text != long {
			t.Errorf("%d of %d bytes are stored", len(text), len(long))
		}
	})
}

// TestReaderOfSameProcessSeesEveryLine: a reader stores what waits in memory first.
func TestReaderOfSameProcessSeesEveryLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs, store, _ := newChunks(1 << 20)
		job := newJob()
		file := openLog(t, logs, job)
		follower, err := logs.ReadLog(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			line := fmt.Sprintf("line %d\n", i)
			write(t, file, line)
			if text, err := io.ReadAll(follower); string(text) != line || err != nil {
				t.Errorf("a follower reads %q, %v; want %q", text, err, line)
			}
		}
		if text := readLog(t, logs, job); text != "line 0\nline 1\nline 2\n" || store.appends != 3 {
			t.Errorf("the log is %q after %d appends", text, store.appends)
		}
	})
}

// TestSeeksInChunks reads a log of several chunks from every kind of position.
func TestSeeksInChunks(t *testing.T) {
	logs, _, _ := newChunks(10 << 20)
	job := newJob()
	file := openLog(t, logs, job)
	var text strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&text, "line %5d of many\n", i)
	}
	write(t, file, text.String())
	_ = file.Close()
	logs.FlushLogs(t.Context())
	log, err := logs.ReadLog(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	whole := text.String()
	for _, at := range []int64{0, 1, chunkMax - 1, chunkMax, 3 * chunkMax, int64(len(whole)) - 1, int64(len(whole))} {
		if _, err := log.Seek(at, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if rest, err := io.ReadAll(log); string(rest) != whole[at:] || err != nil {
			t.Errorf("from %d: %d bytes, want %d; %v", at, len(rest), len(whole[at:]), err)
		}
	}
	if end, err := log.Seek(-10, io.SeekEnd); end != int64(len(whole))-10 || err != nil {
		t.Errorf("the end is at %d, %v; want %d", end+10, err, len(whole))
	}
	if rest, _ := io.ReadAll(log); string(rest) != whole[len(whole)-10:] {
		t.Errorf("the last bytes are %q", rest)
	}
}

// TestCompressibleChunksAreSmall: repetitive text takes a tenth of its size; text that does not
// compress takes no more than its size.
func TestCompressibleChunksAreSmall(t *testing.T) {
	logs, store, _ := newChunks(10 << 20)
	plain, random := newJob(), newJob()
	line := "2026-11-15T23:30:00Z INFO a line of a log as long as most of them are\n"
	texts := map[*rota.Job]string{plain: strings.Repeat(line, 10_000), random: incompressible(200_000)}
	if err := logs.Keep(t.Context(), texts); err != nil {
		t.Fatal(err)
	}
	for job, text := range texts {
		if got, _ := store.stored(job); got != text {
			t.Errorf("%d bytes come back, want %d", len(got), len(text))
		}
	}
	if _, bytes := store.stored(plain); bytes > len(texts[plain])/10 {
		t.Errorf("%d bytes take %d", len(texts[plain]), bytes)
	}
	if _, bytes := store.stored(random); bytes > len(texts[random]) {
		t.Errorf("%d bytes take %d", len(texts[random]), bytes)
	}
}

// incompressible is a text of hashed bytes.
func incompressible(size int) string {
	state, text := uint64(1), make([]byte, size)
	for i := range text {
		state = state*6364136223846793005 + 1442695040888963407
		text[i] = byte(state >> 56)
	}
	return string(text)
}

// TestFullChunkLogEndsWithOneNotice: the limit is that of files.
func TestFullChunkLogEndsWithOneNotice(t *testing.T) {
	logs, store, _ := newChunks(1024)
	job := newJob()
	file := openLog(t, logs, job)
	for i := range 100 {
		write(t, file, fmt.Sprintf("line %3d of what would be too much to keep\n", i))
	}
	_ = file.Close()
	logs.FlushLogs(t.Context())
	text, _ := store.stored(job)
	if !strings.HasSuffix(text, "too much to keep\n[rota: the log is full at 1KiB; later lines are not stored]\n") || strings.Count(text, "[rota:") != 1 {
		t.Errorf("the log ends with %q", text[max(0, len(text)-150):])
	}
	if len(text) > 1024+128 || len(text) < 900 {
		t.Errorf("the log has %d bytes", len(text))
	}
}

// TestOutageDelaysLinesAndLosesNone: text waits in memory and is stored once, in order, also if the
// answer to an append is lost.
func TestOutageDelaysLinesAndLosesNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs, store, server := newChunks(1 << 20)
		job, other := newJob(), newJob()
		file := openLog(t, logs, job)
		var want strings.Builder
		for i := range 20 {
			store.set(func() { store.failing, store.lossy = errDown, i == 10 })
			line := fmt.Sprintf("line %d\n", i)
			write(t, file, line)
			want.WriteString(line)
			time.Sleep(flushEvery + time.Millisecond)
		}
		if err := logs.Keep(t.Context(), map[*rota.Job]string{other: "of a remote worker\n"}); err != nil {
			t.Error(err)
		}
		store.set(func() { store.failing = nil })
		time.Sleep(retryMax + time.Millisecond)
		synctest.Wait()
		if text, _ := store.stored(job); text != want.String() {
			t.Errorf("the log is %q", text)
		}
		if text, _ := store.stored(other); text != "of a remote worker\n" {
			t.Errorf("the log of the worker is %q", text)
		}
		if strings.Count(server.String(), "cannot be stored") != 1 || strings.Count(server.String(), "can be stored again") != 1 {
			t.Errorf("the server logs\n%s", server)
		}
	})
}

// TestOutageTakesBoundedMemoryAndStatesLoss: what does not fit is counted, and no writer waits for a
// store that fails.
func TestOutageTakesBoundedMemoryAndStatesLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs, store, _ := newChunks(100 << 20)
		job := newJob()
		file := openLog(t, logs, job)
		store.set(func() { store.failing = errDown })
		write(t, file, "first\n")
		time.Sleep(flushEvery + time.Millisecond)
		began, line := time.Now(), strings.Repeat("x", 1<<20-1)+"\n"
		for range 20 {
			write(t, file, line)
		}
		if waited := time.Since(began); waited > 0 {
			t.Errorf("the run waited %s", waited)
		}
		if logs.unsent > unsentMax {
			t.Errorf("%d bytes wait in memory", logs.unsent)
		}
		store.set(func() { store.failing = nil })
		time.Sleep(retryMax)
		write(t, file, "last\n")
		_ = file.Close()
		logs.FlushLogs(t.Context())
		text, _ := store.stored(job)
		at, missing := strings.Index(text, "[rota: "), 0
		if _, err := fmt.Sscanf(text[max(at, 0):], "[rota: %d bytes are missing here: they could not be written]\nlast", &missing); err != nil {
			t.Fatalf("%q: %v", text[max(at, 0):], err)
		}
		kept := strings.Count(text[:at], "x") + strings.Count(text[:at-1], "\n") - 1 // without the break before the notice
		if kept+missing != 20<<20 || missing == 0 {
			t.Errorf("%d bytes are kept and %d stated as missing, of %d", kept, missing, 20<<20)
		}
	})
}

// TestLossAtEndIsStated: a run that ends during an outage states its loss in the last line.
func TestLossAtEndIsStated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs, store, _ := newChunks(100 << 20)
		job := newJob()
		file := openLog(t, logs, job)
		store.set(func() { store.failing = errDown })
		write(t, file, "first\n")
		time.Sleep(flushEvery + time.Millisecond)
		write(t, file, strings.Repeat("x", 2*unsentMax))
		_ = file.Close()
		logs.FlushLogs(t.Context())
		store.set(func() { store.failing = nil })
		time.Sleep(retryMax)
		synctest.Wait()
		if text, _ := store.stored(job); !strings.HasSuffix(text, " bytes are missing here: they could not be written]\n") {
			t.Errorf("the log ends with %q", text[max(0, len(text)-100):])
		}
	})
}

// TestSlowStoreHoldsWriterForSeconds: a store that does not answer delays a writer by a bounded time.
func TestSlowStoreHoldsWriterForSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs, store, _ := newChunks(100 << 20)
		file := openLog(t, logs, newJob())
		hold := make(chan struct{})
		store.set(func() { store.hold = hold })
		began := time.Now()
		write(t, file, strings.Repeat("x", 2*unsentMax))
		_ = file.Close()
		logs.FlushLogs(t.Context())
		if waited := time.Since(began); waited < spaceWait || waited > 20*time.Second {
			t.Errorf("the run waited %s", waited)
		}
		close(hold)
		time.Sleep(flushEvery)
		synctest.Wait()
		if logs.unsent != 0 {
			t.Errorf("%d bytes are left", logs.unsent)
		}
	})
}

// TestWritersAndFlushesRunAtOnce has runs write, end and be read at the same time.
func TestWritersAndFlushesRunAtOnce(t *testing.T) {
	logs, store, _ := newChunks(1 << 20)
	var group sync.WaitGroup
	jobs := make([]*rota.Job, 50)
	for i := range jobs {
		jobs[i] = newJob()
		file := openLog(t, logs, jobs[i])
		group.Go(func() {
			for line := range 100 {
				_, _ = fmt.Fprintf(file, "line %d\n", line)
				if line%33 == 0 {
					log, err := logs.ReadLog(t.Context(), jobs[i])
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, log)
				}
			}
			_ = file.Close()
			logs.FlushLogs(t.Context())
			if text, _ := store.stored(jobs[i]); strings.Count(text, "\n") != 100 || !strings.HasSuffix(text, "line 99\n") {
				t.Errorf("after its flush log %d has %d lines", i, strings.Count(text, "\n"))
			}
		})
	}
	group.Wait()
	if logs.unsent != 0 || len(logs.logs) != 0 || logs.closedUnsent.Load() != 0 {
		t.Errorf("%d bytes of %d logs are left", logs.unsent, len(logs.logs))
	}
}

// TestLogOfRemoteWorkerIsReplacedInChunks: a log that a worker sends again replaces the first.
func TestLogOfRemoteWorkerIsReplacedInChunks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs, store, _ := newChunks(1 << 20)
		job := newJob()
		for _, text := range []string{"one\ntwo\n", "one\ntwo\n", "three"} {
			if err := logs.Keep(t.Context(), map[*rota.Job]string{job: text}); err != nil {
				t.Fatal(err)
			}
			if got, _ := store.stored(job); got != text {
				t.Errorf("the log is %q, want %q", got, text)
			}
		}
		store.set(func() { store.failing = errDown })
		for _, text := range []string{"four", "five"} { // neither is stored yet
			_ = logs.Keep(t.Context(), map[*rota.Job]string{job: text})
		}
		store.set(func() { store.failing = nil })
		time.Sleep(retryMax)
		synctest.Wait()
		if got, _ := store.stored(job); got != "five" || logs.unsent != 0 || logs.closedUnsent.Load() != 0 {
			t.Errorf("after an outage the log is %q; %d bytes are left", got, logs.unsent)
		}
	})
}

// TestUnknownLogIsNotEmpty tells logs that are gone from those that are empty, for both kinds of logs.
func TestUnknownLogIsNotEmpty(t *testing.T) {
	now := time.Now()
	clock := func() time.Time { return now }
	chunks, files := Store(&memoryStore{}, Config{Clock: clock}), Dir(t.TempDir(), Config{Clock: clock})
	for _, logs := range []interface {
		reader
		Path(*rota.Job) string
	}{chunks, files} {
		for _, test := range []struct {
			name   string
			change func(job *rota.Job)
			want   string // part of the error; empty: the log is empty
		}{
			{"running", func(job *rota.Job) { job.Run.Outcome = "" }, ""},
			{"wrote nothing", func(job *rota.Job) { job.Run.StartedAt = now.Add(-99 * day) }, ""},
			{"killed now", func(job *rota.Job) { job.Run.ErrorCode = rota.CodeLeaseExpired }, ""},
			{"killed long ago", func(job *rota.Job) { job.Run.ErrorCode, job.Run.StartedAt = rota.CodeLeaseExpired, now.Add(-31*day) }, "logs are kept for 30d"},
			{"old", func(job *rota.Job) { job.Run.StartedAt = now.Add(-31 * day); job.Run.LogPath = logs.Path(job) }, "logs are kept for 30d"},
			{"removed", func(job *rota.Job) { job.Run.LogPath = logs.Path(job) }, "it was removed, or could not be stored"},
			{"elsewhere", func(job *rota.Job) { job.Run.LogPath = "other/x\n.log" }, "its log is other/x?.log at the process that ran it, w"},
		} {
			job := newJob()
			job.Run.StartedAt, job.Run.FinishedAt, job.Run.Outcome = now.Add(-time.Hour), now.Add(-time.Minute), rota.OutcomeCompleted
			test.change(job)
			log, err := logs.ReadLog(t.Context(), job)
			if test.want != "" {
				if rota.CodeOf(err) != rota.NotFound || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%T, %s: %v", logs, test.name, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%T, %s: %v", logs, test.name, err)
				continue
			}
			if text, err := io.ReadAll(log); len(text) > 0 || err != nil {
				t.Errorf("%T, %s: %q, %v", logs, test.name, text, err)
			}
		}
	}
}

// TestReaderWaitsForLogOfEndedRun: the log of a remote worker is stored just after its run has ended.
func TestReaderWaitsForLogOfEndedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs, store, _ := newChunks(1 << 20)
		elsewhere := Store(store, Config{})
		job := newJob()
		job.Run.Outcome, job.Run.FinishedAt, job.Run.LogPath = rota.OutcomeCompleted, time.Now(), logs.Path(job)
		time.AfterFunc(time.Second, func() { _ = elsewhere.Keep(t.Context(), map[*rota.Job]string{job: "at last\n"}) })
		if text := readLog(t, logs, job); text != "at last\n" {
			t.Errorf("the log is %q", text)
		}
	})
}

// TestLeaderPrunesChunks: one process removes what is older than logs are kept.
func TestLeaderPrunesChunks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs, store, _ := newChunks(1 << 20)
		old := newJob()
		_ = logs.Keep(t.Context(), map[*rota.Job]string{old: "old\n"})
		time.Sleep(DefaultKeep)
		recent := newJob()
		_ = logs.Keep(t.Context(), map[*rota.Job]string{recent: "recent\n"})
		time.Sleep(time.Second)
		logs.PruneLogs(t.Context(), false)
		if len(store.chunks) != 2 {
			t.Error("a process that does not lead has removed logs")
		}
		logs.PruneLogs(t.Context(), true)
		if len(store.chunks) != 1 || store.chunks[0].JobID != recent.ID {
			t.Errorf("%d logs are left", len(store.chunks))
		}
	})
}

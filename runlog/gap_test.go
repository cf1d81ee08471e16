package runlog

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rotajobs/rota"
)

// loseChunk removes a stored chunk, as a crash of the database server does.
func (s *memoryStore) loseChunk(n int) {
	s.set(func() { s.chunks = slices.Delete(s.chunks, n, n+1) })
}

// missingBytes is the notice in place of a chunk that is gone.
func missingBytes(n int) string {
	return fmt.Sprintf("[rota: %d bytes are missing here: they were removed, or the database server lost them]\n", n)
}

// TestLostChunkIsStated: the reader says where text is missing, and repeats none.
func TestLostChunkIsStated(t *testing.T) {
	for _, test := range []struct {
		lines []string
		lost  int
		want  string
	}{
		{[]string{"line 0\n", "line 1\n", "line 2\n", "line 3\n"}, 1, "line 0\n" + missingBytes(7) + "line 2\nline 3\n"},
		{[]string{"line 0\n", "line 1\n", "line 2\n"}, 0, missingBytes(7) + "line 1\nline 2\n"},
		{[]string{"half a line", " and the rest\n", "end"}, 1, "half a line\n" + missingBytes(14) + "end"},
	} {
		logs, store, _ := newChunks(1 << 20)
		job := newJob()
		file := openLog(t, logs, job)
		for _, line := range test.lines {
			write(t, file, line)
			logs.flushJob(t.Context(), job.ID)
		}
		store.loseChunk(test.lost)
		if text := readLog(t, logs, job); text != test.want {
			t.Errorf("the log is\n%q, want\n%q", text, test.want)
		}
	}
}

// TestFollowerStatesLostChunk: a follower that has read the first lines continues behind the gap.
func TestFollowerStatesLostChunk(t *testing.T) {
	logs, store, _ := newChunks(1 << 20)
	job := newJob()
	file := openLog(t, logs, job)
	write(t, file, "line 0\n")
	follower, err := logs.ReadLog(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(follower); string(text) != "line 0\n" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	write(t, file, "line 1\n")
	logs.flushJob(t.Context(), job.ID)
	store.loseChunk(1)
	write(t, file, "line 2\n")
	for _, want := range []string{missingBytes(7) + "line 2\n", ""} {
		if text, err := io.ReadAll(follower); string(text) != want || err != nil {
			t.Errorf("the follower reads %q, %v; want %q", text, err, want)
		}
	}
}

// TestOnlyTextBeforeRecordedEndNeedNotBeDurable: the record of the end makes it durable. Other text has no later commit
// that the process would repeat after a crash.
func TestOnlyTextBeforeRecordedEndNeedNotBeDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs, store, _ := newChunks(1 << 20)
		file := openLog(t, logs, newJob())
		write(t, file, "of a run that continues\n")
		time.Sleep(flushEvery + time.Millisecond)
		synctest.Wait()
		write(t, file, "of a run that ends\n")
		_ = file.Close()
		logs.FlushLogs(t.Context())
		_ = logs.Keep(t.Context(), map[*rota.Job]string{newJob(): "of a run that has ended\n"})
		if want := []bool{true, false, true}; !slices.Equal(store.durable, want) {
			t.Errorf("the appends are durable: %v, want %v", store.durable, want)
		}
	})
}

// TestHangingStoreDelaysFirstEndOnly: while the store does not answer, one end of a run waits for it.
func TestHangingStoreDelaysFirstEndOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs, store, _ := newChunks(1 << 20)
		hold := make(chan struct{})
		store.set(func() { store.hold = hold })
		var waits []time.Duration
		var jobs []*rota.Job
		for i := range 6 {
			jobs = append(jobs, newJob())
			file := openLog(t, logs, jobs[i])
			write(t, file, "a line\n")
			_ = file.Close()
			began := time.Now()
			logs.FlushLogs(t.Context())
			waits = append(waits, time.Since(began))
			time.Sleep(time.Duration(i) * time.Second) // also while the timer sends, and between its attempts
		}
		if want := []time.Duration{flushMax, 0, 0, 0, 0, 0}; !slices.Equal(waits, want) {
			t.Errorf("the ends waited %v, want %v", waits, want)
		}
		close(hold)
		time.Sleep(retryMax + flushEvery)
		synctest.Wait()
		for _, job := range jobs {
			if text, _ := store.stored(job); text != "a line\n" {
				t.Errorf("after the store answers again, a log is %q", text)
			}
		}
	})
}

// TestReaderThatDisconnectsCancelsNoAppend: the append has text of all runs.
func TestReaderThatDisconnectsCancelsNoAppend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs, store, server := newChunks(1 << 20)
		hold, job := make(chan struct{}), newJob()
		store.set(func() { store.hold = hold })
		write(t, openLog(t, logs, job), "a line\n")
		ctx, disconnect := context.WithCancel(t.Context())
		go func() { _, _ = logs.ReadLog(ctx, job) }()
		synctest.Wait()
		disconnect()
		synctest.Wait()
		close(hold)
		synctest.Wait()
		if text, _ := store.stored(job); text != "a line\n" || store.appends != 1 || strings.Contains(server.String(), "cannot") {
			t.Errorf("the log is %q after %d appends; the server logs %s", text, store.appends, server)
		}
	})
}

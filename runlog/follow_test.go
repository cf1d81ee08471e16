package runlog

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rotajobs/rota"
)

// busStore is a store in memory with a bus between its processes.
type busStore struct {
	*memoryStore
	receivers *[]func(text string)
}

func (s busStore) Send(topic, text string) error {
	for _, receive := range *s.receivers {
		receive(topic + " " + text)
	}
	return nil
}

func (s busStore) Receive(topic string, handle func(string)) (stop func()) {
	*s.receivers = append(*s.receivers, func(message string) {
		if text, ok := strings.CutPrefix(message, topic+" "); ok {
			handle(text)
		}
	})
	return func() {}
}

// TestFollowedLogIsStoredAlmostAtOnce: while a reader of another process waits at the end of a log,
// each line reaches it within a fraction of a second; when it is gone, lines wait for the second again.
func TestFollowedLogIsStoredAlmostAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := busStore{&memoryStore{}, &[]func(string){}}
		runs, reads := Store(store, Config{}), Store(store, Config{})
		job := newJob()
		file := openLog(t, runs, job)
		log, err := reads.ReadLog(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		read := func() string {
			text, err := io.ReadAll(log)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		write(t, file, "before\n")
		read() // reaches the end
		read() // waits there: the log is followed
		synctest.Wait()
		if text := read(); text != "before\n" {
			t.Errorf("a line from before the reader is %q", text)
		}
		for i := range 50 {
			line := fmt.Sprintf("line %d\n", i)
			write(t, file, line)
			time.Sleep(followDelay)
			synctest.Wait()
			if text := read(); text != line {
				t.Fatalf("after %s the reader has %q, want %q", followDelay, text, line)
			}
			read()
		}
		time.Sleep(followFor)
		write(t, file, "late\n")
		time.Sleep(followDelay)
		synctest.Wait()
		if text, _ := store.stored(job); strings.HasSuffix(text, "late\n") {
			t.Error("lines are still stored at once after the reader has gone")
		}
	})
}

// TestFollowerIsSignalled: a reader at the end of a log learns of new text without asking for it, from
// this process at once and from another as soon as the text is stored.
func TestFollowerIsSignalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := busStore{&memoryStore{}, &[]func(string){}}
		runs, reads := Store(store, Config{}), Store(store, Config{})
		job := newJob()
		file := openLog(t, runs, job)
		for at, after := range map[*Chunks]time.Duration{runs: 0, reads: followDelay} {
			log, err := at.ReadLog(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				_, _ = io.ReadAll(log) // waits at the end
			}
			changed := log.(interface{ Changed() <-chan struct{} }).Changed()
			write(t, file, "a line\n")
			time.Sleep(after)
			synctest.Wait()
			select {
			case <-changed:
			default:
				t.Errorf("no signal after %s", after)
			}
			if text, err := io.ReadAll(log); string(text) != "a line\n" || err != nil {
				t.Errorf("%q, %v", text, err)
			}
			_ = log.Close()
			if len(at.readers) != 0 {
				t.Error("a closed reader is kept")
			}
		}
	})
}

// TestPlainReadAsksForNothing: a reader that ends at the end of the log sends no message, nor does the
// reader of a run that has ended.
func TestPlainReadAsksForNothing(t *testing.T) {
	sent := 0
	store := busStore{&memoryStore{}, &[]func(string){func(string) { sent++ }}}
	logs := Store(store, Config{})
	job := newJob()
	if text := readLog(t, logs, job); text != "" || sent != 0 {
		t.Errorf("%q, %d messages", text, sent)
	}
	job.Run.Outcome = rota.OutcomeCompleted
	log, err := logs.ReadLog(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, _ = io.ReadAll(log)
	}
	if sent != 0 {
		t.Errorf("%d messages about a run that has ended", sent)
	}
}

// TestKilledProcessLosesAtMostLastSecond: at every moment the store has the lines that are older than a
// second. A process that is killed loses no more than the others.
func TestKilledProcessLosesAtMostLastSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs, store, _ := newChunks(1 << 20)
		job := newJob()
		file := openLog(t, logs, job)
		const every = 70 * time.Millisecond
		for i := range 200 {
			write(t, file, fmt.Sprintf("line %d\n", i))
			time.Sleep(every)
			synctest.Wait()
			text, _ := store.stored(job)
			if stored, older := strings.Count(text, "\n"), i+1-int(flushEvery/every); stored < older {
				t.Fatalf("after line %d the store has %d lines, want %d", i, stored, older)
			}
		}
	})
}

package runlog

import (
	"context"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

// appender is what a server needs of the logs of remote workers.
type appender interface {
	reader
	Append(ctx context.Context, job *rota.Job, offset int64, part string) (bool, error)
}

// eachAppender runs a test with logs in files and in a store.
func eachAppender(t *testing.T, limit int64, test func(t *testing.T, logs appender, job *rota.Job)) {
	t.Run("files", func(t *testing.T) {
		logs, _ := newLogs(t, limit)
		test(t, logs, startedJob())
	})
	t.Run("chunks", func(t *testing.T) {
		logs, _, _ := newChunks(limit)
		test(t, logs, newJob())
	})
}

func appendPart(t *testing.T, logs appender, job *rota.Job, offset int64, part string) (full bool) {
	t.Helper()
	full, err := logs.Append(t.Context(), job, offset, part)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

// TestRepeatedPartsAreStoredOnce: a worker sends a part again, or a longer part that begins with it.
func TestRepeatedPartsAreStoredOnce(t *testing.T) {
	eachAppender(t, 1<<20, func(t *testing.T, logs appender, job *rota.Job) {
		for range 2 {
			appendPart(t, logs, job, 0, "one\n")
		}
		appendPart(t, logs, job, 4, "two\n")
		appendPart(t, logs, job, 0, "one\n")
		appendPart(t, logs, job, 4, "two\nthree\n")
		appendPart(t, logs, job, 4, "two\n")
		if text := readLog(t, logs, job); text != "one\ntwo\nthree\n" {
			t.Errorf("the log is %q", text)
		}
	})
}

// TestPartBeyondLimitEndsLog: the notice appears once, whatever is sent afterwards.
func TestPartBeyondLimitEndsLog(t *testing.T) {
	eachAppender(t, 10, func(t *testing.T, logs appender, job *rota.Job) {
		if appendPart(t, logs, job, 0, "12345\n") {
			t.Error("it is full after 6 of 10 bytes")
		}
		for range 2 {
			if !appendPart(t, logs, job, 6, "a\nlong line\n") || !appendPart(t, logs, job, 18, "later\n") {
				t.Error("it is not full")
			}
		}
		if text, want := readLog(t, logs, job), "12345\na\n[rota: the log is full at 10B; later lines are not stored]\n"; text != want {
			t.Errorf("the log is %q, want %q", text, want)
		}
	})
	eachAppender(t, 6, func(t *testing.T, logs appender, job *rota.Job) { // the part before ends at the limit
		appendPart(t, logs, job, 0, "12345\n")
		appendPart(t, logs, job, 6, "more\n")
		if text := readLog(t, logs, job); !strings.HasPrefix(text, "12345\n\n[rota: the log is full") {
			t.Errorf("the log is %q", text)
		}
	})
}

// TestMissingPartIsStated: another server may have it.
func TestMissingPartIsStated(t *testing.T) {
	eachAppender(t, 1<<20, func(t *testing.T, logs appender, job *rota.Job) {
		appendPart(t, logs, job, 0, "one\n")
		for range 2 {
			appendPart(t, logs, job, 1004, "three\n")
		}
		text := readLog(t, logs, job)
		if !strings.HasPrefix(text, "one\n") || !strings.HasSuffix(text, "\nthree\n") || strings.Count(text, "1000 bytes are missing here") != 1 {
			t.Errorf("the log is %q", text)
		}
	})
}
